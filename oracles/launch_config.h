// Claims: the device accepts every launch that the target declares, and no declared product that is
// computed in a narrow integer overflows. Uses the declared geometry alone. Can be wrong when the
// declaration is. Does not judge targets that declare no geometry. Cost: no trial, no device.
#pragma once

#include "core/launch_limits.h"
#include "core/oracle.h"

namespace redzone::oracles {

class LaunchConfigOracle final : public Oracle {
 public:
  explicit LaunchConfigOracle(LaunchLimits limits = {}) : limits_(limits) {}
  std::string_view name() const override { return "launch-config"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;

 private:
  LaunchLimits limits_;
};

}  // namespace redzone::oracles
