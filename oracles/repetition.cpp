#include "oracles/repetition.h"

#include "oracles/checks.h"

namespace redzone::oracles {
namespace {

constexpr std::size_t kTrials = 16;

}  // namespace

std::vector<TrialSpec> RepetitionOracle::expand(const Plan& plan, const TargetSpec& spec) const {
  if (!can_compare(spec)) return {};
  return std::vector<TrialSpec>(kTrials, TrialSpec{plan.mode, {}, compares_by_reference(spec)});
}

Verdict RepetitionOracle::judge(const Plan& plan, const TargetSpec& spec,
                                std::span<const Observation> observations) const {
  return judge_equal(name(), plan, spec, observations);
}

}  // namespace redzone::oracles
