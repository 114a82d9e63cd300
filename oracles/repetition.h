// The same trial again must give the same outputs; of a target that is declared nondeterministic,
// outputs that are within its reference each time, or never (see can_compare()).
//
// Equal trials; fails when one of them differs from the first. What shows here is a race within a
// call or between calls, or randomness: nothing was changed that it could depend on. On the host
// device equal trials take equal schedules, so a race shows in `schedule` there.
// Can be wrong: about targets wrongly declared deterministic (float atomics).
// Cost: 16 trials.
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
