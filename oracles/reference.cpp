#include "oracles/reference.h"

#include "oracles/checks.h"

namespace redzone::oracles {

std::vector<TrialSpec> ReferenceOracle::expand(const Plan& plan, const TargetSpec& spec) const {
  if (!spec.has_reference) return {};
  return {{plan.mode, {}, true}};
}

Verdict ReferenceOracle::judge(const Plan& plan, const TargetSpec& spec,
                               std::span<const Observation> observations) const {
  if (!spec.has_reference)
    return {Outcome::not_applicable, std::string(name()), "the target has no reference", {}, -1};
  if (auto v = cannot_judge(name(), observations[0])) return *v;
  if (auto v = judge_reference(name(), plan, observations[0])) return *v;
  if (observations[0].end != End::completed)
    return {Outcome::inconclusive, std::string(name()), "the trial did not complete", {}, -1};
  return Verdict::pass(std::string(name()));
}

}  // namespace redzone::oracles
