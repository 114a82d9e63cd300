// The screen of the device that runs nothing: one trial, in which only run() of the target runs.
//
// Claims: launchers fail in no call, launch what a device takes and what the target declares, and
// ask for the scratch that their kernels need. Says nothing of what kernels do.
// Can be wrong: as the oracles `fault`, `launches` and `scratch`, which it is made of.
// Cost: 1 trial.
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
