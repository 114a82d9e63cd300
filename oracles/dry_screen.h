// The screen of a dry run: one trial, in which only run() of the target runs.
//
// Claims: in every call, launchers do not fail, launch what the device accepts and the target
// declares, and request the scratch that their kernels need. Does not judge the work of kernels,
// nor plans that launch nothing. Can be wrong in the same cases as the oracles `fault`,
// `launch-mismatch` and `scratch`, which it combines. Cost: 1 trial.
#pragma once

#include "core/oracle.h"

namespace redzone::oracles {

class DryScreenOracle final : public Oracle {
 public:
  std::string_view name() const override { return "dry-screen"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;

 private:
  Verdict judge_trial(const Plan& plan, const TargetSpec& spec, const Observation& o) const;
};

}  // namespace redzone::oracles
