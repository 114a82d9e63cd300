#include "oracles/redzone.h"

#include "oracles/checks.h"

namespace redzone::oracles {

std::vector<TrialSpec> RedzoneOracle::expand(const Plan& plan, const TargetSpec&) const {
  return {{plan.mode, {}, false}};
}

Verdict RedzoneOracle::judge(const Plan& plan, const TargetSpec&,
                             std::span<const Observation> observations) const {
  if (shows_writes(observations[0]))
    if (auto v = judge_canaries(name(), plan, observations[0])) return *v;
  if (auto v = cannot_judge(name(), observations[0])) return *v;
  if (observations[0].end != End::completed)
    return {Outcome::inconclusive, std::string(name()), "the trial did not complete", {}, -1};
  return Verdict::pass(std::string(name()));
}

}  // namespace redzone::oracles
