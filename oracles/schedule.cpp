#include "oracles/schedule.h"

#include "core/mode_axes.h"
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
    mode_axis(axis::kSchedule).vary(plan, trials.back());
  }
  trials.push_back(same);
  return trials;
}

std::vector<TrialSpec> ScheduleOracle::unvaried(const Plan& plan, const TargetSpec& spec) const {
  auto trials = expand(plan, spec);
  for (auto& trial : trials) trial.mode.schedule_seed = plan.mode.schedule_seed;
  return trials;
}

std::vector<std::string_view> ScheduleOracle::varies() const {
  return {axis::kSchedule};
}

Verdict ScheduleOracle::judge(const Plan& plan, const TargetSpec& spec,
                              std::span<const Observation> observations) const {
  const ModeAxis& axis = mode_axis(axis::kSchedule);
  return judge_between(name(), axis.kind, plan, spec, observations, axis.claim);
}

}  // namespace redzone::oracles
