#include "oracles/reference.h"

#include "oracles/checks.h"

namespace redzone::oracles {
namespace {

// Of a completed trial in which nothing was compared.
std::string why_not_compared(const Plan& plan, const Observation& o) {
  if (o.calls.empty()) return "no call was run to its end";
  const CallObservation& first = o.calls.front();
  const std::string call = describe_call(plan, first.call);
  switch (first.comparison) {
    case Comparison::left_out:
      return call + " was left out for want of time";
    case Comparison::too_large:
      return call + " is too large for it";
    case Comparison::none:
    case Comparison::compared:
      break;
  }
  return "the trial compared nothing";
}

}  // namespace

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
  Verdict verdict = judge_trial(plan, o);
  verdict.reference = compared_calls(plan, o);
  return verdict;
}

Verdict ReferenceOracle::judge_trial(const Plan& plan, const Observation& o) const {
  const std::string self(name());
  if (auto v = cannot_judge(name(), o)) return *v;
  if (auto v = judge_reference(name(), plan, o)) return *v;
  if (o.end != End::completed)
    return {Outcome::inconclusive, self, "the trial did not complete", {}, -1};
  if (compared_calls(plan, o).compared == 0)
    return {Outcome::not_applicable,
            self,
            "not judged by the reference: " + why_not_compared(plan, o),
            {},
            -1};
  return Verdict::pass(self);
}

}  // namespace redzone::oracles
