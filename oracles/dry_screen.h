// The screen of a dry run: one trial, in which only run() of the target runs.
//
// Claims: launchers fail in no call, launch what the device accepts and the target declares, and
// request the scratch that their kernels need. Does not judge what kernels do, nor plans that
// launch nothing. Can be wrong where the oracles `fault`, `launch-mismatch` and `scratch` can,
// which it combines. Cost: 1 trial.
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
