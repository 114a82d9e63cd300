#include "oracles/dry_screen.h"

#include <algorithm>

#include "oracles/checks.h"
#include "oracles/launch_mismatch.h"
#include "oracles/scratch.h"

namespace redzone::oracles {
namespace {

// True if there are no declared or observed launches and no scratch requests, so nothing was
// compared.
bool launches_nothing(const TargetSpec& spec, const Observation& o) {
  return !spec.geometry && std::ranges::all_of(o.calls, [](const CallObservation& call) {
    return call.launches.empty() && call.scratch.empty();
  });
}

}  // namespace

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
  if (launches_nothing(spec, o))
    return {Outcome::not_applicable, std::string(name()), "its calls launch nothing", {}, -1};
  return Verdict::pass(std::string(name()));
}

}  // namespace redzone::oracles
