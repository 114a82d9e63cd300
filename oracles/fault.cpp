#include "oracles/fault.h"

#include "oracles/checks.h"

namespace redzone::oracles {

std::vector<TrialSpec> FaultOracle::expand(const Plan& plan, const TargetSpec&) const {
  return {{plan.mode, {}, false}};
}

Verdict FaultOracle::judge(const Plan& plan, const TargetSpec&,
                           std::span<const Observation> observations) const {
  if (auto v = cannot_judge(name(), observations[0])) return *v;
  if (auto v = judge_fault(name(), plan, observations[0])) return *v;
  return Verdict::pass(std::string(name()));
}

}  // namespace redzone::oracles
