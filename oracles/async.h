// The outputs of a deterministic target must not depend on whether the host waits between launches.
//
// Two trials with the launch mode of the plan and two blocking ones; nothing to say of a plan that
// is blocking itself. Fails when the blocking ones agree and one of the others differs from them: a race against what
// is still queued shows in some runs only, and differently each time, so the relaxed ones need not
// agree. When the blocking ones differ, the failure is not this axis' (inconclusive).
// Can be wrong: about targets wrongly declared deterministic, and by chance about a race within a
// call that two blocking runs did not show.
// Cost: 4 trials.
#pragma once

#include "core/oracle.h"

namespace redzone::oracles {

class AsyncOracle final : public Oracle {
 public:
  std::string_view name() const override { return "async"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;
};

}  // namespace redzone::oracles
