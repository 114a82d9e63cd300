#include "generators/products.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/launch_limits.h"
#include "core/spec_mistake.h"
#include "generators/dims.h"
#include "generators/internal/draw.h"

namespace redzone::generators {
namespace {

constexpr int kProducts = 6;  // products tried
constexpr int kStarts = 3;    // starts from which each boundary of a product is tried
// settle() may reduce other dims to meet the cost, and so the product; the dim is then placed
// again.
constexpr int kRepairs = 3;

double as_double(std::int64_t n) {
  return static_cast<double>(n);
}

Product of_dims(Draw& draw, const Space& space) {
  std::vector<std::string> names;
  const auto wanted = std::min<std::size_t>(draw.one_in(4) ? 3 : 2, space.size());
  while (names.size() < wanted) {
    const std::string& name = space.dim(draw.index(space.size())).name;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return [names](const Dims& dims) {
    double product = 1;
    for (const auto& name : names) product *= as_double(get(dims, name));
    return product;
  };
}

// Draws the tile that the spec declares for the dim, or a number among its knobs; 1 if there is
// neither.
std::int64_t draw_tile(Draw& draw, const DimSpec& dim, const Config& config) {
  std::vector<std::int64_t> tiles;
  if (dim.tile > 0) tiles.push_back(dim.tile);
  for (const auto& [name, value] : config)
    if (const auto* n = std::get_if<std::int64_t>(&value); n != nullptr && *n > 1)
      tiles.push_back(*n);
  return tiles.empty() ? 1 : draw.pick(std::span<const std::int64_t>(tiles));
}

// The size of a dim rounded up to tiles, in elements or in tiles, alone or times another dim.
Product of_tiles(Draw& draw, const Space& space, const Config& config) {
  const DimSpec& dim = space.dim(draw.index(space.size()));
  const std::int64_t tile = draw_tile(draw, dim, config);
  const bool count = draw.one_in(2);
  const std::string other =
      draw.one_in(2) ? space.dim(draw.index(space.size())).name : std::string();
  return [name = dim.name, tile, count, other](const Dims& dims) {
    const double tiles = std::ceil(as_double(get(dims, name)) / as_double(tile));
    const double times = other.empty() || other == name ? 1 : as_double(get(dims, other));
    return (count ? tiles : tiles * as_double(tile)) * times;
  };
}

// The elements or bytes of a tensor, or of the part of it that one step along an outer dim skips.
Product of_tensor(Draw& draw, const TensorSpec& tensor, const Config& config) {
  const auto bytes =
      draw.one_in(2) ? as_double(static_cast<std::int64_t>(dtype_bytes(tensor.dtype_for(config))))
                     : 1.0;
  const bool whole = draw.one_in(2);
  const auto skipped = static_cast<std::size_t>(draw.index(4)) + 1;
  return [&tensor, config, bytes, whole, skipped](const Dims& dims) {
    const Shape shape = tensor.shape_for(dims, config);
    double product = bytes;
    for (std::size_t i = whole ? 0 : std::min(skipped, shape.size()); i < shape.size(); ++i)
      product *= as_double(shape[i]);
    return product;
  };
}

// The largest grid size or shared memory of the declared launches, or the largest declared product.
Product of_geometry(Draw& draw, const TargetSpec& spec, const Config& config) {
  enum { kGrid, kShared, kIndex, kKinds };
  const auto kind = draw.index(kKinds);
  const auto axis = draw.index(4);  // 3: the product of all three
  return [&spec, config, kind, axis](const Dims& dims) {
    const Geometry geometry = spec.geometry(dims, config);
    double most = 0;
    if (kind == kIndex) {
      for (const auto& product : geometry.products) {
        double value = 1;
        for (const auto factor : product.factors) value *= as_double(factor);
        most = std::max(most, value);
      }
      return most;
    }
    for (const auto& launch : geometry.launches) {
      const auto& g = launch.grid;
      const double grid =
          axis < 3 ? as_double(g[axis]) : as_double(g[0]) * as_double(g[1]) * as_double(g[2]);
      most = std::max(most, kind == kShared ? as_double(launch.shared_bytes) : grid);
    }
    return most;
  };
}

// Ascending. Weighted, because overflow at 2^31 and 2^32 is the most common mistake.
constexpr double kBounds[] = {
    0x1p8,  0x1p15, 48.0 * 1024, 0x1p16, static_cast<double>(LaunchLimits{}.shared_bytes),
    0x1p31, 0x1p32};
constexpr int kWeights[] = {2, 2, 1, 4, 1, 6, 4};

Product draw_product(Draw& draw, const Space& space, const Config& config) {
  enum { kDims, kTiles, kTensor, kGeometry };
  const TargetSpec& spec = space.spec();
  const int weights[] = {3, 2, spec.tensors.empty() ? 0 : 4, spec.geometry ? 4 : 0};
  switch (draw.weighted(weights)) {
    case kDims:
      return of_dims(draw, space);
    case kTiles:
      return of_tiles(draw, space, config);
    case kTensor:
      return of_tensor(draw, draw.pick(std::span<const TensorSpec>(spec.tensors)), config);
    default:
      return of_geometry(draw, spec, config);
  }
}

// Returns nullopt if a function of the spec throws; some do for calls that a predicate forbids.
std::optional<double> value_of(const Product& product, const Dims& dims) {
  try {
    return product(dims);
  } catch (const SpecMistake&) {
    return std::nullopt;
  }
}

// The value of the product with dim `d` at `value` and the other dims as in `p`.
std::optional<double> value_at(const Space& space, const Product& product, Point p, std::size_t d,
                               std::int64_t value) {
  p[d] = value;
  return value_of(product, space.dims(p));
}

// The smallest value of dim `d` at which the product is at least `bound`; nullopt if the product
// reaches `bound` at the smallest value of `d` already, or nowhere. Assumes that the product grows
// with the dim.
std::optional<std::int64_t> first_reaching(const Space& space, const ProductBoundary& boundary,
                                           const Point& p, std::size_t d) {
  const DimSpec& dim = space.dim(d);
  const auto reaches = [&](std::int64_t value) {
    const auto product = value_at(space, boundary.product, p, d, value);
    return product && *product >= boundary.bound;
  };
  std::int64_t below = smallest(dim), at = largest(dim);
  if (reaches(below) || !reaches(at)) return std::nullopt;
  for (;;) {
    const auto middle = allowed_at_most(dim, below + (at - below) / 2);
    const auto value = middle && *middle > below ? middle : allowed_at_least(dim, below + 1);
    if (!value || *value >= at) return at;
    (reaches(*value) ? at : below) = *value;
  }
}

Point least_point(const Space& space) {
  Point p;
  p.reserve(space.size());
  for (std::size_t d = 0; d < space.size(); ++d)
    p.push_back(allowed_at_least(space.dim(d), 1).value_or(smallest(space.dim(d))));
  return p;
}

// The dims on which the product depends.
std::vector<std::size_t> factors_of(const Space& space, const Product& product) {
  std::vector<std::size_t> factors;
  const Point p = least_point(space);
  const auto least = value_of(product, space.dims(p));
  for (std::size_t d = 0; d < space.size(); ++d)
    if (value_at(space, product, p, d, largest(space.dim(d))) != least) factors.push_back(d);
  return factors;
}

// Dims that are no factors are small, so that they cost little. The factors have any sizes, or are
// about as large as the factors of a product of equal ones.
Point draw_start(Draw& draw, const Space& space, std::span<const std::size_t> factors,
                 double bound) {
  Point p = least_point(space);
  for (std::size_t d = 0; d < space.size(); ++d)
    if (draw.one_in(4)) p[d] = draw_dim(draw, space.dim(d), 4);
  const bool equal = draw.one_in(2);
  const double root = std::pow(bound, 1.0 / as_double(static_cast<std::int64_t>(factors.size())));
  for (const std::size_t d : factors) {
    const auto most = static_cast<std::int64_t>(equal ? root : bound);
    const auto want = equal ? most : draw.log_uniform(1, std::max<std::int64_t>(most, 1));
    p[d] = allowed_at_most(space.dim(d), want).value_or(smallest(space.dim(d)));
  }
  return p;
}

// Sets dim `d` so that the product is at the boundary, from above or from below. Dims in `keep` may
// not change afterwards.
bool place_dim(const Space& space, const ProductBoundary& boundary, std::size_t d, bool above,
               DimSet keep, const Config& config, const Cost& allowance, Dims& dims) {
  for (int i = 0; i < kRepairs; ++i) {
    Point p = space.point(dims);
    const auto first = first_reaching(space, boundary, p, d);
    if (!first) return false;
    p[d] = above ? *first : allowed_at_most(space.dim(d), *first - 1).value_or(*first);
    space.store(p, dims);
    if (!settle(space, config, allowance, keep | dim_bit(d), dims)) return false;
    if (at_boundary(space, dims, boundary)) return true;
  }
  return false;
}

// Tries one start: with all factors as drawn, or else with factors reduced to meet the cost.
bool draw_dims_at(Draw& draw, const Space& space, const ProductBoundary& boundary,
                  std::span<const std::size_t> factors, const Config& config, const Cost& allowance,
                  Dims& dims) {
  const Point start = draw_start(draw, space, factors, boundary.bound);
  // Most mistakes appear beyond a boundary.
  const bool above = !draw.one_in(3);
  const std::size_t d = draw.pick(factors);
  DimSet all = 0;
  for (const std::size_t f : factors) all |= dim_bit(f);
  for (const DimSet keep : {all, DimSet{0}}) {
    space.store(start, dims);
    if (place_dim(space, boundary, d, above, keep, config, allowance, dims)) return true;
  }
  return false;
}

}  // namespace

bool at_boundary(const Space& space, const Dims& dims, const ProductBoundary& boundary) {
  const auto here = value_of(boundary.product, dims);
  if (!here) return false;
  const Point p = space.point(dims);
  const bool reached = *here >= boundary.bound;
  for (std::size_t d = 0; d < space.size(); ++d) {
    const auto next = reached ? allowed_at_most(space.dim(d), p[d] - 1)
                              : allowed_at_least(space.dim(d), p[d] + 1);
    if (!next) continue;
    const auto there = value_at(space, boundary.product, p, d, *next);
    if (there && (*there >= boundary.bound) != reached) return true;
  }
  return false;
}

bool draw_dims_at_boundary(Draw& draw, const Space& space, const Config& config,
                           const Cost& allowance, Dims& dims) {
  if (space.size() == 0) return false;
  for (int i = 0; i < kProducts; ++i) {
    ProductBoundary boundary{draw_product(draw, space, config), 0};
    const auto factors = factors_of(space, boundary.product);
    if (factors.empty()) continue;
    // If the dims or the allowance do not reach a boundary, try the next lower one.
    for (std::size_t b = draw.weighted(kWeights) + 1; b-- > 0;) {
      boundary.bound = kBounds[b] + as_double(draw.in_range(0, 1));
      for (int start = 0; start < kStarts; ++start)
        if (draw_dims_at(draw, space, boundary, factors, config, allowance, dims)) return true;
    }
  }
  return false;
}

}  // namespace redzone::generators
