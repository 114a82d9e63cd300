#include "oracles/async.h"

#include <algorithm>

#include "oracles/checks.h"

namespace redzone::oracles {
namespace {

constexpr std::size_t kRelaxed = 14;

}  // namespace

AsyncOracle::AsyncOracle(std::span<const ModeAxis> axes)
    : varies_schedules_(std::ranges::any_of(
          axes, [](const ModeAxis& a) { return a.name == axis::kSchedule && a.screened; })) {}

std::vector<TrialSpec> AsyncOracle::expand(const Plan& plan, const TargetSpec& spec) const {
  if (!can_compare(spec) || plan.mode.launch == Launch::blocking) return {};
  TrialSpec blocking{plan.mode, {}, compares_by_reference(spec)};
  mode_axis(axis::kLaunch).vary(plan, blocking);
  std::vector<TrialSpec> trials{blocking};
  TrialSpec relaxed{plan.mode, {}, compares_by_reference(spec)};
  for (std::size_t i = 0; i < kRelaxed; ++i) {
    trials.push_back(relaxed);
    if (varies_schedules_) mode_axis(axis::kSchedule).vary(plan, relaxed);
  }
  trials.push_back(blocking);
  return trials;
}

// The schedules are still varied: a difference that depends only on schedules is not caused by
// launches.
std::vector<TrialSpec> AsyncOracle::unvaried(const Plan& plan, const TargetSpec& spec) const {
  auto trials = expand(plan, spec);
  for (auto& trial : trials) mode_axis(axis::kLaunch).vary(plan, trial);
  return trials;
}

std::vector<std::string_view> AsyncOracle::varies() const {
  if (!varies_schedules_) return {axis::kLaunch};
  return {axis::kLaunch, axis::kSchedule};
}

Verdict AsyncOracle::judge(const Plan& plan, const TargetSpec& spec,
                           std::span<const Observation> observations) const {
  if (plan.mode.launch == Launch::blocking)
    return {Outcome::not_applicable, std::string(name()), "the plan is blocking", {}, -1};
  const ModeAxis& axis = mode_axis(axis::kLaunch);
  return judge_between(name(), axis.kind, plan, spec, observations, axis.claim);
}

}  // namespace redzone::oracles
