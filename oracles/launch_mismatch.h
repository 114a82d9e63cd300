// Claims: a call launches what the target declares. For each kernel that the declaration names, the
// last launches of the call match it in order, grid, block and dynamic shared memory; earlier
// launches are ignored, because an autotuner tries other configurations first. Uses the recorded
// launch requests, so a stale grid is found without running a kernel. Can be wrong when the
// declaration is. Does not judge targets that declare no geometry. Cost: 1 trial, in the plan's own
// mode.
#pragma once

#include <optional>

#include "core/oracle.h"

namespace redzone::oracles {

class LaunchMismatchOracle final : public Oracle {
 public:
  static constexpr std::string_view kName = "launch-mismatch";
  // Former name, found in stores and scripts from older builds.
  static constexpr std::string_view kFirstName = "launches";

  std::string_view name() const override { return kName; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;
};

// Fails for the first launch that differs from its declaration.
std::optional<Verdict> judge_launches(std::string_view oracle, const Plan& plan,
                                      const TargetSpec& spec, const Observation& observation);

}  // namespace redzone::oracles
