#include "generators/dims.h"

#include <algorithm>
#include <optional>

#include "core/spec_mistake.h"
#include "generators/internal/draw.h"

namespace redzone::generators {
namespace {

// Steps of settle(): enough to reduce ten dims from 2^31 to 1 by factors of 16 and then halve
// further.
constexpr int kSettleSteps = 96;

std::int64_t neighbour(Draw& draw, std::int64_t value) {
  return value + draw.in_range(-1, 1);
}

std::int64_t snap(const DimSpec& dim, std::int64_t value, std::int64_t limit) {
  return allowed_at_most(dim, std::min(value, limit)).value_or(smallest(dim));
}

// A multiple of `unit` up to `hi`; half of the time `unit` itself.
std::int64_t multiple(Draw& draw, std::int64_t unit, std::int64_t hi) {
  const std::int64_t most = std::max<std::int64_t>(hi / unit, 1);
  return unit * (draw.one_in(2) ? 1 : draw.log_uniform(1, most));
}

std::int64_t power_of_two(Draw& draw, std::int64_t hi) {
  const int bits = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(hi, 1)));
  return std::int64_t{1} << draw.in_range(0, bits - 1);
}

std::int64_t draw_raw(Draw& draw, const DimSpec& dim, std::int64_t lo, std::int64_t hi) {
  // kVector: one vector instruction loads 4, 8 or 16 elements.
  enum { kSmall, kLow, kHigh, kTile, kPower, kVector, kTail, kAny };
  const bool tile = dim.tile > 0 && dim.tile <= hi + 1;
  const int weights[] = {30, 8, 4, tile ? 25 : 0, 18, hi >= 15 ? 10 : 0, 10, 12};
  switch (draw.weighted(weights)) {
    case kSmall:
      return lo + draw.in_range(0, std::min(8 * dim.multiple_of, hi - lo));
    case kLow:
      return draw.one_in(2) ? lo : std::max<std::int64_t>(lo, draw.in_range(0, 1));
    case kHigh:
      return hi;
    case kTile:
      return neighbour(draw, multiple(draw, dim.tile, hi));
    case kPower:
      return neighbour(draw, power_of_two(draw, hi));
    case kVector:
      return neighbour(draw, multiple(draw, std::int64_t{4} << draw.index(3), hi));
    case kTail:
      return hi < 1 ? hi : draw.log_uniform(1, hi);
    default:
      return draw.in_range(lo, hi);
  }
}

// The largest dim outside `keep` that is above its smallest value; the number of dims if there is
// none.
std::size_t most_shrinkable(const Space& space, const Point& p, DimSet keep) {
  std::size_t best = space.size();
  for (std::size_t d = 0; d < space.size(); ++d) {
    if ((keep & dim_bit(d)) || p[d] <= smallest(space.dim(d))) continue;
    if (best == space.size() || p[d] > p[best]) best = d;
  }
  return best;
}

// Returns nullopt for a call that the predicates forbid, because other functions of the spec may
// throw for such calls. Exceptions for allowed calls propagate.
std::optional<Cost> cost_if_allowed(const Space& space, const Dims& dims, const Config& config) {
  try {
    return dense_cost(space.spec(), dims, config);
  } catch (const SpecMistake& e) {
    if (e.kind() == SpecMistake::Kind::undeclared || space.predicates_hold(dims, config)) throw;
    return std::nullopt;
  }
}

}  // namespace

std::int64_t draw_dim(Draw& draw, const DimSpec& dim, std::int64_t limit) {
  if (!dim.values.empty()) {
    const auto end = std::upper_bound(dim.values.begin(), dim.values.end(), limit);
    const auto count = static_cast<std::size_t>(end - dim.values.begin());
    return count == 0 ? dim.values.front() : dim.values[draw.index(count)];
  }
  const std::int64_t lo = smallest(dim);
  const std::int64_t hi = std::max(lo, std::min(limit, largest(dim)));
  return snap(dim, std::max(lo, draw_raw(draw, dim, lo, hi)), hi);
}

std::int64_t draw_larger(Draw& draw, const DimSpec& dim, std::int64_t from) {
  const std::int64_t top = largest(dim);
  if (from >= top) return from;
  std::int64_t want = from + 1;
  switch (draw.index(4)) {
    case 0:
      break;
    case 1:
      want = from > top / 2 ? top : std::max<std::int64_t>(2 * from, from + 1);
      break;
    case 2:
      want = dim.tile > 0 ? (from / dim.tile + 1) * dim.tile + draw.in_range(0, 1)
                          : (from / 16 + 1) * 16;
      break;
    default:
      want = std::max(from + 1, draw_dim(draw, dim, top));
  }
  return allowed_at_least(dim, want).value_or(top);
}

std::int64_t draw_smaller(Draw& draw, const DimSpec& dim, std::int64_t from) {
  const std::int64_t bottom = smallest(dim);
  if (from <= bottom) return from;
  std::int64_t want = from - 1;
  switch (draw.index(4)) {
    case 0:
      break;
    case 1:
      want = from / 2;
      break;
    case 2:
      want = bottom;
      break;
    default:
      want = draw_dim(draw, dim, from - 1);
  }
  return allowed_at_most(dim, std::min(want, from - 1)).value_or(bottom);
}

Point draw_point(Draw& draw, const Space& space) {
  static constexpr std::int64_t kScales[] = {4, 32, 256, std::int64_t{1} << 62};
  const int weights[] = {15, 40, 30, 15};
  const std::int64_t scale = kScales[draw.weighted(weights)];
  Point p;
  p.reserve(space.size());
  for (std::size_t d = 0; d < space.size(); ++d) {
    // One dim in eight has its own scale, so that shapes can be long and thin or short and wide.
    const std::int64_t limit = draw.one_in(8) ? draw.pick(kScales) : scale;
    // Keep the tile and the values after it within reach at every scale.
    const std::int64_t reach = std::max(limit, 2 * space.dim(d).tile + 1);
    p.push_back(draw_dim(draw, space.dim(d), draw.one_in(2) ? reach : limit));
  }
  return p;
}

Point draw_large_point(Draw& draw, const Space& space) {
  Point p;
  p.reserve(space.size());
  for (std::size_t d = 0; d < space.size(); ++d) {
    const std::int64_t top = largest(space.dim(d));
    const std::int64_t want = draw.one_in(3)   ? draw_dim(draw, space.dim(d), top)
                              : draw.one_in(2) ? top >> draw.in_range(0, 3)
                                               : top - draw.in_range(0, 1);
    p.push_back(snap(space.dim(d), want, top));
  }
  return p;
}

bool settle(const Space& space, const Config& config, const Cost& allowance, DimSet pinned,
            Dims& dims) {
  Point p = space.point(dims);
  DimSet keep = pinned;
  for (int step = 0; step < kSettleSteps; ++step) {
    std::int64_t factor = 2;
    if (space.repair(p, keep)) {
      space.store(p, dims);
      const auto cost = cost_if_allowed(space, dims, config);
      const double excess = cost ? std::max(cost->work / std::max(allowance.work, 1.0),
                                            cost->bytes / std::max(allowance.bytes, 1.0))
                                 : 2;
      // Check the cost first, because a predicate may look up the compiled variant of the call.
      if (excess <= 1 && space.predicates_hold(dims, config)) return true;
      factor = static_cast<std::int64_t>(std::clamp(excess, 2.0, 16.0));
    } else if (keep != pinned) {
      keep =
          pinned;  // the dim reduced in the previous step prevents the repair: allow it to change
      continue;
    }
    const std::size_t d = most_shrinkable(space, p, pinned);
    if (d == space.size()) return false;
    p[d] = snap(space.dim(d), p[d] / factor, p[d] - 1);
    keep = pinned | dim_bit(d);
  }
  return false;
}

}  // namespace redzone::generators
