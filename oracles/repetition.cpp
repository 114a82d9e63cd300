#include "oracles/repetition.h"

#include "oracles/checks.h"

namespace redzone::oracles {
namespace {

constexpr std::size_t kTrials = 6;

}  // namespace

std::vector<TrialSpec> RepetitionOracle::expand(const Plan& plan, const TargetSpec& spec) const {
  if (!can_compare(spec)) return {};
  return std::vector<TrialSpec>(kTrials, TrialSpec{plan.mode, {}, compares_by_reference(spec)});
}

Verdict RepetitionOracle::judge(const Plan& plan, const TargetSpec& spec,
                                std::span<const Observation> observations) const {
  if (auto v = cannot_compare(name(), spec, observations)) return *v;
  for (const auto& again : observations.subspan(1))
    if (auto difference = first_difference(spec, observations[0], again))
      return depends(name(), FailKind::nondeterministic, plan, *difference,
                     "the run: nothing else was changed");
  return Verdict::pass(std::string(name()));
}

}  // namespace redzone::oracles
