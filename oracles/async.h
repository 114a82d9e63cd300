// The outputs of a deterministic target must not depend on whether the host waits between launches.
//
// Blocking trials at both ends and several with the launch mode of the plan between them, each
// under a schedule of its own on the host device. Fails when the blocking ones agree and one of the
// others differs from them: a race against what is still queued shows in some runs only, and
// differently each time. When the blocking ones differ, the failure is not this axis'
// (inconclusive). Nothing to say of a plan that is blocking itself. Can be wrong: about targets
// wrongly declared deterministic, and by chance about a race within a call that two blocking runs
// did not show; and about a target that keeps state from one trial to the next, which `history`
// names first. Cost: 16 trials, one after another in one worker.
#pragma once

#include "core/oracle.h"

namespace redzone::oracles {

class AsyncOracle final : public Oracle {
 public:
  std::string_view name() const override { return "async"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  std::vector<TrialSpec> unvaried(const Plan& plan, const TargetSpec& spec) const override;
  std::vector<std::string_view> varies() const override;
  bool shares_worker() const override { return true; }
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;
};

}  // namespace redzone::oracles
