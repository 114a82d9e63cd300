// Claims: the target ends every call without a device error, a signal, an exit or a hang. Can be
// wrong: a hang is an expired deadline, so a slow call can be reported as one; deadlines grow with
// the work that the target declares. Cost: 1 trial, in the plan's own mode.
#pragma once

#include "core/oracle.h"

namespace redzone::oracles {

class FaultOracle final : public Oracle {
 public:
  std::string_view name() const override { return "fault"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;
};

}  // namespace redzone::oracles
