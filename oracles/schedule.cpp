#include "oracles/schedule.h"

#include "oracles/axes.h"
#include "oracles/checks.h"

namespace redzone::oracles {
namespace {

constexpr std::size_t kOthers = 14;

}  // namespace

std::vector<TrialSpec> ScheduleOracle::expand(const Plan& plan, const TargetSpec& spec) const {
  if (!can_compare(spec)) return {};
  const TrialSpec same{plan.mode, {}, compares_by_reference(spec)};
  std::vector<TrialSpec> trials{same};
  for (std::size_t i = 0; i < kOthers; ++i) {
    trials.push_back(trials.back());
    auto& seed = trials.back().mode.schedule_seed;
    seed = other_schedule(seed);
  }
  trials.push_back(same);
  return trials;
}

std::vector<TrialSpec> ScheduleOracle::unvaried(const Plan& plan, const TargetSpec& spec) const {
  auto trials = expand(plan, spec);
  for (auto& trial : trials) trial.mode.schedule_seed = plan.mode.schedule_seed;
  return trials;
}

Verdict ScheduleOracle::judge(const Plan& plan, const TargetSpec& spec,
                              std::span<const Observation> observations) const {
  return judge_between(name(), FailKind::schedule, plan, spec, observations,
                       "the order in which blocks and threads run");
}

}  // namespace redzone::oracles
