#include "generators/calls.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "core/spec_mistake.h"
#include "core/validate.h"
#include "generators/configs.h"
#include "generators/dims.h"
#include "generators/every_call.h"
#include "generators/internal/cost.h"
#include "generators/internal/draw.h"
#include "generators/layouts.h"
#include "generators/products.h"

namespace redzone::generators {
namespace {

constexpr int kTries = 4;           // tries of one random choice before a simpler choice is used
constexpr int kSearchTries = 5000;  // tries to find the first call of a spec

constexpr int kCheaperTries = 100;  // further tries to find a cheaper call after the first

// enumerate all calls of a spec only up to this number
constexpr std::size_t kMostEnumerated = 20'000;

// Draws 1 (the plainest seed), a small seed, or any seed below 2^63.
std::uint64_t draw_seed(Draw& draw) {
  if (draw.one_in(2)) return 1;
  if (draw.one_in(2)) return static_cast<std::uint64_t>(draw.in_range(2, 5));
  return draw.bits() >> 1;
}

}  // namespace

CallMaker::CallMaker(const TargetSpec& spec, bool sparse) : space_(spec), sparse_(sparse) {
  for (std::size_t d = 0; d < space_.size(); ++d)
    if (smallest(space_.dim(d)) < largest(space_.dim(d))) free_dims_.push_back(d);
  simplest_ = known_call();
  Call least = simplest_;
  least.dims = least_dims();
  least_point_ = space_.point(least.dims);
  least_ = cost(least);
}

Dims CallMaker::least_dims() const {
  Dims dims = simplest_.dims;
  Point p;
  p.reserve(space_.size());
  for (std::size_t d = 0; d < space_.size(); ++d)
    p.push_back(allowed_at_least(space_.dim(d), 1).value_or(smallest(space_.dim(d))));
  space_.store(p, dims);
  return settle(space_, simplest_.config, kUnlimited, 0, dims) ? dims : simplest_.dims;
}

bool CallMaker::can_have(std::size_t dim, std::int64_t value, const Cost& allowance) const {
  Point p = least_point_;
  p[dim] = value;
  if (!space_.repair(p, dim_bit(dim))) return false;
  if (!does_work(p)) return false;
  const Dims dims = space_.dims(p);
  try {
    if (!space_.predicates_hold(dims, simplest_.config)) return false;
    const Cost cost = dense_cost(spec(), dims, simplest_.config);
    return cost.work <= allowance.work && cost.bytes <= allowance.bytes;
  } catch (const SpecMistake&) {
    return false;  // no plan can contain this call
  }
}

Call CallMaker::known_call() const {
  Call call;
  call.config = default_config(spec());
  call.dims = space_.dims(space_.smallest_point());
  if (settle(space_, call.config, kUnlimited, 0, call.dims) && validate_call(call, spec()))
    return call;
  // The smallest dims with the default knobs do not satisfy the spec, so search all dims and knobs.
  // The seed is fixed so that the same spec always gives the same call.
  Draw draw{rc::Random(0)};
  std::optional<Call> best;
  std::string why;
  Rejections rejected;
  for (int i = 0, tries = kSearchTries; i < tries; ++i) {
    call.config = draw_config(draw, spec());
    space_.store(draw_point(draw, space_), call.dims);
    if (!settle(space_, call.config, kUnlimited, 0, call.dims)) {
      rejected.add(space_.violated(call.dims, call.config));
      continue;
    }
    if (const auto valid = validate_call(call, spec()); !valid) {
      why = valid.error().message;
      continue;
    }
    // The first call found can be huge; a few more tries find a smaller one.
    if (!best) tries = std::min(tries, i + kCheaperTries);
    if (!best || cost(call).bytes < cost(*best).bytes) best = call;
  }
  if (best) return *best;
  std::string tried = fmt::format("in {} tries", kSearchTries);
  const EveryCall every(space_);
  if (const auto count = every.count(kMostEnumerated)) {
    rejected = {};
    for (std::size_t i = 0; i < *count; ++i) {
      call = every.at(i);
      const Constraint* const violated = space_.violated(call.dims, call.config);
      rejected.add(violated);
      if (violated != nullptr) continue;
      const auto valid = validate_call(call, spec());
      if (valid) return call;
      why = valid.error().message;
    }
    tried = fmt::format("of all {}", *count);
  }
  throw std::invalid_argument(fmt::format(
      "target '{}': no call found that satisfies its constraints, {}{}{}{}", spec().name, tried,
      rejected.text(), why.empty() ? "" : "; of the last one: ", why));
}

Cost CallMaker::cost(const Call& call) const {
  Cost cost = dense_cost(spec(), call.dims, call.config);
  cost.bytes += layout_bytes(spec(), call, sparse_);
  return cost;
}

bool CallMaker::try_dims(Draw& draw, const Cost& allowance, PointSource points, Call& call) const {
  for (int i = 0; i < kTries; ++i) {
    space_.store(points(draw, space_), call.dims);
    if (settle(space_, call.config, allowance, 0, call.dims)) return true;
  }
  return false;
}

// Drops the layouts of a call when they exceed the allowance.
void CallMaker::fit_layouts(const Cost& allowance, Call& call) const {
  if (!call.layouts.empty() && cost(call).bytes > allowance.bytes) call.layouts.clear();
}

Call CallMaker::fresh(Draw& draw, const Cost& allowance) const {
  return fresh_at(draw, allowance, &draw_point);
}

bool CallMaker::does_work(const Call& call) const {
  return does_work(space_.point(call.dims));
}

bool CallMaker::does_work(const Point& p) const {
  for (std::size_t d = 0; d < p.size(); ++d)
    if (p[d] == 0 && least_point_[d] != 0) return false;
  return true;
}

Call CallMaker::working(Draw& draw, const Cost& allowance) const {
  for (int i = 0; i < kTries; ++i)
    if (Call call = fresh(draw, allowance); does_work(call)) return call;
  Call least = simplest_;
  space_.store(least_point_, least.dims);
  return least;
}

Call CallMaker::large(Draw& draw, const Cost& allowance) const {
  return fresh_at(draw, allowance, &draw_large_point);
}

Call CallMaker::fresh_at(Draw& draw, const Cost& allowance, PointSource points) const {
  Call call = simplest_;
  call.config = draw_config(draw, spec());
  if (!try_dims(draw, allowance, points, call)) {
    call.config = simplest_.config;
    if (!try_dims(draw, allowance, points, call)) call.dims = simplest_.dims;
  }
  draw_layouts(draw, spec(), call);
  fit_layouts(allowance, call);
  call.seed = draw_seed(draw);
  return call;
}

std::optional<Call> CallMaker::at_boundary(Draw& draw, const Cost& allowance) const {
  Call call = simplest_;
  call.config = draw_config(draw, spec());
  if (!draw_dims_at_boundary(draw, space_, call.config, allowance, call.dims)) return std::nullopt;
  draw_layouts(draw, spec(), call);
  fit_layouts(allowance, call);
  call.seed = draw_seed(draw);
  return call;
}

std::size_t CallMaker::draw_free_dim(Draw& draw) const {
  return free_dims_.empty() ? space_.size() : draw.pick(std::span<const std::size_t>(free_dims_));
}

Call CallMaker::with_dim(const Call& from, std::size_t dim, std::int64_t value,
                         const Cost& allowance) const {
  Call call = from;
  Point p = space_.point(from.dims);
  p[dim] = value;
  space_.store(p, call.dims);
  if (!settle(space_, call.config, allowance, dim_bit(dim), call.dims)) return from;
  fit_layouts(allowance, call);
  return call;
}

Call CallMaker::with_dim_switched(Draw& draw, const Call& from, const Cost& allowance) const {
  const Point p = space_.point(from.dims);
  for (int i = 0; i < kTries; ++i) {
    const std::size_t d = draw_free_dim(draw);
    if (d == space_.size()) break;
    // Often choose a value near the current one, so that both sides of a boundary occur in one
    // plan.
    const DimSpec& dim = space_.dim(d);
    const auto value = draw.one_in(3)   ? draw_larger(draw, dim, p[d])
                       : draw.one_in(2) ? draw_smaller(draw, dim, p[d])
                                        : draw_dim(draw, dim, largest(dim));
    // Prefer a nearby value that fits the other dims, because then only this dim changes.
    const auto alone = space_.fitting_value(p, d, value);
    const auto choice = alone && *alone != p[d] ? *alone : value;
    if (choice == p[d]) continue;
    Call call = with_dim(from, d, choice, allowance);
    if (call.dims != from.dims) return call;
  }
  return from;
}

Call CallMaker::grown(Draw& draw, const Call& from, std::size_t dim, const Cost& allowance) const {
  const auto value = get(from.dims, space_.dim(dim).name);
  return with_dim(from, dim, draw_larger(draw, space_.dim(dim), value), allowance);
}

Call CallMaker::shrunk(Draw& draw, const Call& from, std::size_t dim, const Cost& allowance) const {
  const auto value = get(from.dims, space_.dim(dim).name);
  return with_dim(from, dim, draw_smaller(draw, space_.dim(dim), value), allowance);
}

Call CallMaker::with_knob_switched(Draw& draw, const Call& from, const Cost& allowance) const {
  for (int i = 0; i < kTries; ++i) {
    Call call = from;
    if (!switch_knob(draw, spec(), call.config)) break;
    // The dims may have to change with the knob, because a predicate or the work can depend on the
    // knob.
    if (!settle(space_, call.config, allowance, 0, call.dims)) continue;
    drop_refused_layouts(spec(), call);
    fit_layouts(allowance, call);
    return call;
  }
  return from;
}

Call CallMaker::with_other_layouts(Draw& draw, const Call& from, const Cost& allowance) const {
  Call call = from;
  draw_layouts(draw, spec(), call);
  fit_layouts(allowance, call);
  return call;
}

Call CallMaker::with_other_data(Draw& draw, const Call& from) const {
  Call call = from;
  call.seed = draw_seed(draw);
  return call;
}

std::optional<Call> CallMaker::with_big_offsets(Draw& draw, const Call& call,
                                                double max_bytes) const {
  std::vector<const TensorSpec*> able;
  for (const auto& tensor : spec().tensors)
    if (can_have_big_offsets(tensor.shape_for(call.dims, call.config), call.layout(tensor.name),
                             tensor.layouts))
      able.push_back(&tensor);
  if (able.empty()) return std::nullopt;
  const TensorSpec& tensor = *draw.pick(std::span<const TensorSpec* const>(able));
  const auto layout =
      draw_big_offsets(draw, tensor.shape_for(call.dims, call.config), call.layout(tensor.name),
                       dtype_bytes(tensor.dtype_for(call.config)), tensor.layouts);
  if (!layout) return std::nullopt;
  Call big = call;
  big.layouts.insert_or_assign(tensor.name, *layout);
  if (cost(big).bytes > max_bytes || !validate_call(big, spec())) return std::nullopt;
  return big;
}

}  // namespace redzone::generators
