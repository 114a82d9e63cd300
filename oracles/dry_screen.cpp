#include "oracles/dry_screen.h"

#include "oracles/checks.h"
#include "oracles/launch_mismatch.h"
#include "oracles/scratch.h"

namespace redzone::oracles {

std::vector<TrialSpec> DryScreenOracle::expand(const Plan& plan, const TargetSpec&) const {
  return {{plan.mode, {}, false}};
}

Verdict DryScreenOracle::judge(const Plan& plan, const TargetSpec& spec,
                               std::span<const Observation> observations) const {
  Verdict verdict = judge_trial(plan, spec, observations[0]);
  verdict.reference = compared_calls(plan, spec, nullptr);
  return verdict;
}

Verdict DryScreenOracle::judge_trial(const Plan& plan, const TargetSpec& spec,
                                     const Observation& o) const {
  if (auto v = cannot_judge(name(), o)) return *v;
  if (auto v = judge_fault(name(), plan, o)) return *v;
  if (auto v = judge_launches(name(), plan, spec, o)) return *v;
  if (auto v = judge_scratch(name(), plan, o)) return *v;
  return Verdict::pass(std::string(name()));
}

}  // namespace redzone::oracles
