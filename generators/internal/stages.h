// The stages of simplify(): each builds candidates of one kind from a plan, lazily.
//
// A candidate may be invalid, no simpler than the plan, or a duplicate; the caller filters these
// out.
#pragma once

#include <rapidcheck/Seq.h>

#include <functional>
#include <memory>
#include <vector>

#include "core/plan.h"
#include "generators/internal/space.h"

namespace redzone::generators {

// Data shared by all candidates of one plan. Immutable.
struct Origin {
  Plan plan;
  Space space;
};
using OriginPtr = std::shared_ptr<const Origin>;
using Stage = std::function<rc::Seq<Plan>(const OriginPtr&)>;

// Fewer steps and repeats.
std::vector<Stage> step_stages();
// Fewer captured calls and fewer replays.
std::vector<Stage> graph_stages();
// Makes mode, seeds, layouts, knobs or dims plain in all calls at once.
std::vector<Stage> sweeping_stages();
// Smaller dims: in all calls, as in another call, in one call, or two dims together.
std::vector<Stage> dim_stages();
// Changes one repeat, layout part, knob, seed, stream or part of the mode at a time.
std::vector<Stage> detail_stages();
// Fewer launches of a repeated call, one of them with smaller dims. Tried last, because there are
// many candidates.
std::vector<Stage> split_stages();

// The non-negative integers below `value`, in the order in which to try them: first the round ones,
// ascending from `floor` (small, powers of two and their successors, `landmark` and its
// neighbours); then, for each set bit of `value` from the highest to the lowest, the number with
// that bit cleared and all lower bits set (value - 1 for the lowest bit); finally smaller multiples
// of the divisors of `value`. Descent by the second part tries at most one new number per bit,
// because the numbers for higher bits stay the same after a success.
std::vector<std::int64_t> descending_choices(std::int64_t value, std::int64_t floor,
                                             std::int64_t landmark);

// Candidates that replace one call by one of its alternatives.
rc::Seq<Plan> in_one_call(const OriginPtr& origin,
                          std::function<rc::Seq<CallStep>(const CallStep&)> alternatives);
// The candidate with `change` applied to every call; empty if `change` returns false for any call.
rc::Seq<Plan> in_all_calls(const OriginPtr& origin, const std::function<bool(CallStep&)>& change);

}  // namespace redzone::generators
