// Stages of simplify(): smaller dims.
#include <rapidcheck/seq/Create.h>
#include <rapidcheck/seq/Transform.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>
#include <vector>

#include "core/round_up.h"
#include "core/validate.h"
#include "generators/internal/cost.h"
#include "generators/internal/stages.h"

namespace redzone::generators {
namespace {

// Padding of at least this size is assumed to exist for the large offsets that it causes.
constexpr std::int64_t kBigPaddingElems = std::int64_t{1} << 20;

// Number of values tried at and below a value that a predicate forbids.
constexpr int kPredicateTries = 16;

// The smaller values of a dim, in the order in which to try them.
std::vector<std::int64_t> smaller_values(const DimSpec& dim, std::int64_t value) {
  if (!dim.values.empty())
    return {dim.values.begin(), std::lower_bound(dim.values.begin(), dim.values.end(), value)};
  // The values are in units of the multiple, counted from the smallest value if it is negative.
  const std::int64_t unit = dim.multiple_of;
  const std::int64_t bottom = smallest(dim) / unit;
  const std::int64_t shift = std::min<std::int64_t>(bottom, 0);
  auto values = descending_choices(value / unit - shift, bottom - shift, dim.tile / unit);
  for (auto& v : values) v = (v + shift) * unit;
  return values;
}

// One dim of a call at a smaller value, and what happens to the other dims.
struct Change {
  std::size_t dim;
  std::int64_t value;
  // keep: the other dims stay and `value` is lowered until it fits them. follow: the other dims are
  // repaired. tied: the dims of `partners` keep their ratios to the dim, the others are repaired.
  enum class Others { keep, follow, tied } others;
  DimSet partners = 0;
};

std::optional<Point> changed(const Space& space, Point p, const Change& change) {
  const std::int64_t before = p[change.dim];
  if (change.others == Change::Others::keep) {
    const auto v = space.fitting_value(p, change.dim, change.value);
    if (!v || *v >= before) return std::nullopt;
    p[change.dim] = *v;
    return p;
  }
  DimSet pinned = dim_bit(change.dim);
  p[change.dim] = change.value;
  for (DimSet rest = change.partners; rest != 0; rest &= rest - 1) {
    const auto d = static_cast<std::size_t>(std::countr_zero(rest));
    p[d] = p[d] / before * change.value;
    if (allowed_at_most(space.dim(d), p[d]) != p[d]) return std::nullopt;
  }
  pinned |= change.partners;
  if (!space.repair(p, pinned)) return std::nullopt;
  return p;
}

// Like changed(), but tries the next lower values if predicates (which can only be evaluated)
// forbid `change.value`.
std::optional<Point> lowered(const Space& space, const Config& config, const Point& p,
                             Change change) {
  for (int i = 0; i < kPredicateTries; ++i) {
    auto q = changed(space, p, change);
    if (!space.has_predicates()) return q;
    if (q && space.predicates_hold(space.dims(*q), config)) return q;
    const auto below = allowed_at_most(space.dim(change.dim), change.value - 1);
    if (!below) return std::nullopt;
    change.value = *below;
  }
  return std::nullopt;
}

// Sets of dims that have the same value: all of them together and, if there are 3 or 4, also in
// pairs. A failure may need dims to be equal although no constraint requires it.
std::vector<DimSet> equal_dims(const Point& p) {
  constexpr int kFew = 4;
  std::vector<DimSet> out;
  DimSet done = 0;
  for (std::size_t a = 0; a < p.size(); ++a) {
    if ((done & dim_bit(a)) != 0) continue;
    DimSet all = 0;
    for (std::size_t b = a; b < p.size(); ++b) all |= p[b] == p[a] ? dim_bit(b) : 0;
    done |= all;
    const int count = std::popcount(all);
    if (count > 1) out.push_back(all);
    if (count < 3 || count > kFew) continue;
    for (DimSet first = all; first != 0; first &= first - 1)
      for (DimSet second = first & (first - 1); second != 0; second &= second - 1)
        out.push_back((first & -first) | (second & -second));
  }
  return out;
}

// The dim of the set with the fewest values to choose from.
std::size_t coarsest(const Space& space, DimSet set) {
  const auto rank = [&](std::size_t d) {
    const DimSpec& dim = space.dim(d);
    return std::pair(!dim.values.empty(), dim.multiple_of);
  };
  auto best = static_cast<std::size_t>(std::countr_zero(set));
  for (DimSet rest = set; rest != 0; rest &= rest - 1)
    if (const auto d = static_cast<std::size_t>(std::countr_zero(rest)); rank(d) > rank(best))
      best = d;
  return best;
}

// All single changes of one call, dim by dim.
std::vector<Change> changes_of(const Space& space, const Point& p) {
  std::vector<Change> changes;
  for (std::size_t d = 0; d < p.size(); ++d)
    for (auto value : smaller_values(space.dim(d), p[d]))
      for (auto others : {Change::Others::follow, Change::Others::keep})
        changes.push_back({d, value, others});
  for (const auto& [a, b] : space.divides())
    for (auto value : smaller_values(space.dim(a), p[a]))
      if (value != 0) changes.push_back({a, value, Change::Others::tied, dim_bit(b)});
  for (const DimSet alike : equal_dims(p)) {
    const std::size_t dim = coarsest(space, alike);
    for (auto value : smaller_values(space.dim(dim), p[dim]))
      changes.push_back({dim, value, Change::Others::tied, alike & ~dim_bit(dim)});
  }
  return changes;
}

rc::Seq<CallStep> with_changes(const OriginPtr& origin, const CallStep& step,
                               std::vector<Change> changes) {
  const Point p = origin->space.point(step.call.dims);
  return rc::seq::mapMaybe(rc::seq::fromContainer(std::move(changes)),
                           [origin, step, p](const Change& change) -> rc::Maybe<CallStep> {
                             const auto q = lowered(origin->space, step.call.config, p, change);
                             if (!q) return rc::Nothing;
                             CallStep smaller = step;
                             origin->space.store(*q, smaller.call.dims);
                             return smaller;
                           });
}

rc::Seq<Plan> in_each_call(const OriginPtr& origin) {
  return in_one_call(origin, [origin](const CallStep& step) {
    return with_changes(origin, step,
                        changes_of(origin->space, origin->space.point(step.call.dims)));
  });
}

rc::Seq<Plan> each_call_smallest(const OriginPtr& origin) {
  Point p = origin->space.smallest_point();
  if (!origin->space.repair(p, 0)) return {};
  return in_one_call(origin, [origin, p](CallStep step) {
    origin->space.store(p, step.call.dims);
    return rc::seq::just(std::move(step));
  });
}

// Caps a dim in all calls; only for plans with more than one call.
rc::Seq<Plan> capped(const OriginPtr& origin) {
  const Space& space = origin->space;
  std::vector<Change> caps;
  const auto calls = calls_of(origin->plan);
  if (calls.size() < 2) return {};
  for (std::size_t d = 0; d < space.size(); ++d) {
    std::int64_t most = smallest(space.dim(d));
    for (const auto* step : calls) most = std::max(most, space.point(step->call.dims)[d]);
    for (auto value : smaller_values(space.dim(d), most))
      caps.push_back({d, value, Change::Others::follow});
  }
  return rc::seq::mapcat(rc::seq::fromContainer(std::move(caps)), [origin](const Change& cap) {
    return in_all_calls(origin, [&](CallStep& step) {
      const Point p = origin->space.point(step.call.dims);
      if (p[cap.dim] <= cap.value) return true;
      const auto q = lowered(origin->space, step.call.config, p, cap);
      if (q) origin->space.store(*q, step.call.dims);
      return q.has_value();
    });
  });
}

// Replaces a value that several dims share by a smaller one, in all calls that have it. A failure
// may need a dim of one call to equal another dim of the next call, for example with a cache whose
// key for (R, C) equals the key for (C, R).
rc::Seq<Plan> value_in_all_calls(const OriginPtr& origin) {
  const Space& space = origin->space;
  const auto calls = calls_of(origin->plan);
  if (calls.size() < 2) return {};
  std::map<std::int64_t, DimSet> dims_with;
  for (const auto* step : calls) {
    const Point p = space.point(step->call.dims);
    for (std::size_t d = 0; d < p.size(); ++d) dims_with[p[d]] |= dim_bit(d);
  }
  struct Lower {
    std::int64_t from, to;
  };
  std::vector<Lower> smaller;
  for (const auto& [from, dims] : dims_with)
    if (std::popcount(dims) > 1)
      for (const auto to : smaller_values(space.dim(coarsest(space, dims)), from))
        smaller.push_back({from, to});
  return rc::seq::mapcat(rc::seq::fromContainer(std::move(smaller)), [origin](const Lower& value) {
    return in_all_calls(origin, [&](CallStep& step) {
      const Space& space = origin->space;
      Point p = space.point(step.call.dims);
      DimSet pinned = 0;
      for (std::size_t d = 0; d < p.size(); ++d) {
        if (p[d] != value.from) continue;
        if (allowed_at_most(space.dim(d), value.to) != value.to) return false;
        p[d] = value.to;
        pinned |= dim_bit(d);
      }
      if (pinned == 0) return true;
      if (!space.repair(p, pinned) || !space.predicates_hold(space.dims(p), step.call.config))
        return false;
      space.store(p, step.call.dims);
      return true;
    });
  });
}

// Gives one call the dims of another call.
rc::Seq<Plan> as_in_another(const OriginPtr& origin) {
  std::vector<Dims> known;
  for (const auto* step : calls_of(origin->plan))
    if (std::find(known.begin(), known.end(), step->call.dims) == known.end())
      known.push_back(step->call.dims);
  return in_one_call(origin, [known](const CallStep& step) {
    return rc::seq::map(rc::seq::fromContainer(known), [step](const Dims& dims) {
      CallStep same = step;
      same.call.dims = dims;
      return same;
    });
  });
}

// If a tensor with huge padding loses rows or columns, increases the padding to keep the offset of
// the last element. Otherwise a plan that fails because offsets exceed 2^31 could not lose any
// rows.
bool keep_reach(const TensorSpec& tensor, const Dims& before, Call& call) {
  auto it = call.layouts.find(tensor.name);
  if (it == call.layouts.end() || it->second.row_padding_elems < kBigPaddingElems) return true;
  Layout& layout = it->second;
  const Rows old_rows = rows_of(tensor.shape_for(before, call.config), layout.transposed);
  const Rows new_rows = rows_of(tensor.shape_for(call.dims, call.config), layout.transposed);
  if (old_rows.count < 2 || new_rows.count < 2) return false;
  std::int64_t last = 0;
  if (__builtin_mul_overflow(old_rows.count - 1, old_rows.length + layout.row_padding_elems, &last))
    return false;
  last += old_rows.length - new_rows.length;
  const std::int64_t gaps = new_rows.count - 1;
  const std::int64_t granule = tensor.layouts.granule_elems;
  const auto padding = std::max<std::int64_t>((last + gaps - 1) / gaps - new_rows.length, 0);
  layout.row_padding_elems = round_up(padding, granule);
  return true;
}

Call without_layouts(Call call) {
  call.layouts.clear();
  return call;
}

rc::Seq<Plan> keeping_reach(const OriginPtr& origin) {
  return in_one_call(origin, [origin](const CallStep& step) -> rc::Seq<CallStep> {
    const auto& layouts = step.call.layouts;
    if (std::none_of(layouts.begin(), layouts.end(), [](const auto& named) {
          return named.second.row_padding_elems >= kBigPaddingElems;
        }))
      return {};
    auto smaller =
        with_changes(origin, step, changes_of(origin->space, origin->space.point(step.call.dims)));
    return rc::seq::mapMaybe(std::move(smaller),
                             [origin, before = step.call.dims](CallStep s) -> rc::Maybe<CallStep> {
                               // The shapes have not been validated yet.
                               if (!validate_call(without_layouts(s.call), origin->space.spec()))
                                 return rc::Nothing;
                               for (const auto& tensor : origin->space.spec().tensors)
                                 if (!keep_reach(tensor, before, s.call)) return rc::Nothing;
                               return s;
                             });
  });
}

// Replaces two launches of a repeated call by one launch with smaller dims, before or after the
// rest. A failure at the third launch of one shape may need only a smaller launch to prepare it.
rc::Seq<Plan> split_repeats(const OriginPtr& origin) {
  struct Split {
    std::size_t step;
    bool before;
  };
  std::vector<Split> splits;
  for (std::size_t i = 0; i < origin->plan.steps.size(); ++i)
    if (const auto* call = std::get_if<CallStep>(&origin->plan.steps[i]); call && call->repeat > 2)
      splits.insert(splits.end(), {{i, true}, {i, false}});
  return rc::seq::mapcat(rc::seq::fromContainer(std::move(splits)), [origin](const Split& split) {
    CallStep rest = std::get<CallStep>(origin->plan.steps[split.step]);
    rest.repeat -= 2;
    CallStep one = rest;
    one.repeat = 1;
    auto smaller =
        with_changes(origin, one, changes_of(origin->space, origin->space.point(one.call.dims)));
    return rc::seq::map(std::move(smaller), [origin, split, rest](CallStep first) {
      Plan plan = origin->plan;
      plan.steps[split.step] = rest;
      const auto at = static_cast<std::ptrdiff_t>(split.step + (split.before ? 0 : 1));
      plan.steps.insert(plan.steps.begin() + at, std::move(first));
      return plan;
    });
  });
}

}  // namespace

std::vector<Stage> split_stages() {
  return {split_repeats};
}

std::vector<Stage> dim_stages() {
  return {each_call_smallest, capped,       as_in_another, in_each_call,
          value_in_all_calls, keeping_reach};
}

}  // namespace redzone::generators
