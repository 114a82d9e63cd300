#include "oracles/async.h"

#include "oracles/checks.h"

namespace redzone::oracles {

std::vector<TrialSpec> AsyncOracle::expand(const Plan& plan, const TargetSpec& spec) const {
  if (!spec.deterministic || plan.mode.launch == Launch::blocking) return {};
  const TrialSpec relaxed{plan.mode, {}, false};
  TrialSpec blocking = relaxed;
  blocking.mode.launch = Launch::blocking;
  return {relaxed, blocking, relaxed, blocking};
}

Verdict AsyncOracle::judge(const Plan& plan, const TargetSpec& spec,
                           std::span<const Observation> observations) const {
  if (plan.mode.launch == Launch::blocking)
    return {Outcome::not_applicable, std::string(name()), "the plan is blocking", {}, -1};
  if (auto v = cannot_compare(name(), spec, observations)) return *v;
  if (first_difference(observations[1], observations[3]))
    return {Outcome::inconclusive, std::string(name()), "two blocking runs differ", {}, -1};
  for (std::size_t relaxed : {0, 2})
    if (auto difference = first_difference(observations[relaxed], observations[1]))
      return depends(name(), FailKind::async, plan, *difference,
                     "whether launches are synchronized");
  return Verdict::pass(std::string(name()));
}

}  // namespace redzone::oracles
