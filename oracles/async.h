// The outputs of a deterministic target must not depend on whether the host waits between launches.
//
// The first and the last trial are blocking; several trials between them use the launch mode of the
// plan, each with its own schedule on the host device. Fails when the blocking trials agree and
// another trial differs from them: a race against queued work shows in some runs only, and
// differently each time. When the blocking trials differ, the launch mode is not the cause
// (inconclusive). Not applicable to a plan whose launch mode is blocking. Can be wrong about
// targets wrongly declared deterministic, by chance about a race within a call that two blocking
// runs did not show, and about a target that keeps state from one trial to the next, which
// `history` reports first. Cost: 16 trials, one after another in one worker.
#pragma once

#include <span>

#include "core/mode_axes.h"
#include "core/oracle.h"

namespace redzone::oracles {

class AsyncOracle final : public Oracle {
 public:
  // `axes`: the axes of the device. Schedules are varied only if the screen also varies them.
  explicit AsyncOracle(std::span<const ModeAxis> axes = all_mode_axes());
  std::string_view name() const override { return "async"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  std::vector<TrialSpec> unvaried(const Plan& plan, const TargetSpec& spec) const override;
  std::vector<std::string_view> varies() const override;
  bool shares_worker() const override { return true; }
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;

 private:
  const bool varies_schedules_;
};

}  // namespace redzone::oracles
