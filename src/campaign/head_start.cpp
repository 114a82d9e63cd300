#include "campaign/head_start.h"

#include <algorithm>
#include <utility>

#include "core/validate.h"

namespace redzone::campaign {
namespace {

// The call that ended a trial, as an index into calls_of(plan); -1 if it is unknown or no call did.
std::int32_t call_that_faulted(const Answer& answer) {
  const std::size_t trials = std::min(answer.trials.size(), answer.observations.size());
  for (std::size_t t = 0; t < trials; ++t)
    if (answer.observations[t].fault && answer.trials[t].order.empty())
      return answer.observations[t].fault->call;
  return -1;
}

}  // namespace

std::vector<Plan> around_fault(const Shown& shown) {
  const std::int32_t call = call_that_faulted(shown.answer);
  const auto& steps = shown.plan.steps;
  std::int32_t calls = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto* step = std::get_if<CallStep>(&steps[s]);
    if (step == nullptr || calls++ != call) continue;
    Plan alone{shown.plan.target, shown.plan.mode, {CallStep{step->call, 1, 0}}};
    Plan up_to{shown.plan.target, shown.plan.mode, {steps.begin(), steps.begin() + s + 1}};
    return {std::move(alone), std::move(up_to)};
  }
  return {};
}

Simplify with_first(Simplify simplify, FirstPlans first, const TargetSpec& spec) {
  simplify.candidates = [all = std::move(simplify.candidates), simpler = simplify.simpler,
                         first = std::move(first), &spec](const Plan& plan) -> PlanStream {
    return [next = all(plan), simpler, plans = first(plan), plan, &spec,
            i = std::size_t{0}]() mutable -> std::optional<Plan> {
      for (; i < plans.size(); ++i)
        if (validate(plans[i], spec) && simpler(plans[i], plan)) return std::move(plans[i++]);
      return next();
    };
  };
  return simplify;
}

}  // namespace redzone::campaign
