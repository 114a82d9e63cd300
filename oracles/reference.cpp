#include "oracles/reference.h"

#include "oracles/checks.h"

namespace redzone::oracles {

std::vector<TrialSpec> ReferenceOracle::expand(const Plan& plan, const TargetSpec& spec) const {
  if (!spec.has_reference) return {};
  return {{plan.mode, {}, true}};
}

Verdict ReferenceOracle::judge(const Plan& plan, const TargetSpec& spec,
                               std::span<const Observation> observations) const {
  const std::string self(name());
  if (!spec.has_reference)
    return {Outcome::not_applicable, self, "the target has no reference", {}, -1};
  const Observation& o = observations[0];
  const ReferenceCount count = compared_calls(plan, spec, &o);
  Verdict verdict = judge_trial(plan, o, count);
  verdict.reference = count;
  return verdict;
}

Verdict ReferenceOracle::judge_trial(const Plan& plan, const Observation& o,
                                     const ReferenceCount& count) const {
  const std::string self(name());
  if (auto v = cannot_judge(name(), o)) return *v;
  if (auto v = judge_reference(name(), plan, o)) return *v;
  if (o.end != End::completed)
    return {Outcome::inconclusive, self, "the trial did not complete", {}, -1};
  if (count.compared == 0)
    return {Outcome::not_applicable,
            self,
            "not judged by the reference: " + why_not_compared(plan, o),
            {},
            -1};
  return Verdict::pass(self);
}

}  // namespace redzone::oracles
