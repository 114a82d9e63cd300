// Claims: a call launches what the target declares for it: of each kernel that the declaration
// names, the last launches of the call are those, in order, with this grid, block and dynamic
// shared memory. The last: a launcher that tunes tries others before. Works from what was asked of
// the device, so a grid that was kept from an earlier call is seen without running a kernel. On a
// device that runs them, their results say more.
// Can be wrong: when the declaration is. Says nothing of targets that declare none.
// Cost: 1 trial, in the plan's own mode.
#pragma once

#include <optional>

#include "core/oracle.h"

namespace redzone::oracles {

class LaunchMismatchOracle final : public Oracle {
 public:
  static constexpr std::string_view kName = "launch-mismatch";
  // Findings of older builds, and what people wrote down, have it.
  static constexpr std::string_view kFirstName = "launches";

  std::string_view name() const override { return kName; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;
};

// The first launch that is not as declared.
std::optional<Verdict> judge_launches(std::string_view oracle, const Plan& plan,
                                      const TargetSpec& spec, const Observation& observation);

}  // namespace redzone::oracles
