// Repeating a trial must give the same outputs. If the target is declared nondeterministic, its
// outputs must be within the tolerance of the reference each time, or never (see can_compare()).
//
// Runs equal trials and fails when one of them differs from the first. A failure is a race within a
// call or between calls, or randomness, because no setting was changed. On the host device equal
// trials have equal schedules, so `schedule` finds races there. Can be wrong: about targets wrongly
// declared deterministic (float atomics). Cost: 16 trials.
#pragma once

#include "core/oracle.h"

namespace redzone::oracles {

class RepetitionOracle final : public Oracle {
 public:
  std::string_view name() const override { return "repetition"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;
};

}  // namespace redzone::oracles
