// Claims: outputs are within the target's tolerance of its own float64 reference. Can be wrong when
// the reference or the tolerance is. A call that could not be compared is not judged: a pass
// reports how many calls were compared, and a plan without a compared call is not applicable. Does
// not judge targets without a reference. Cost: 1 trial, in the plan's own mode, and the reference
// on the CPU.
#pragma once

#include "core/oracle.h"

namespace redzone::oracles {

class ReferenceOracle final : public Oracle {
 public:
  static constexpr std::string_view kName = "reference";
  std::string_view name() const override { return kName; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;

 private:
  Verdict judge_trial(const Plan& plan, const Observation& o, const ReferenceCount& count) const;
};

}  // namespace redzone::oracles
