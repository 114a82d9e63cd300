// The outputs of a deterministic target must not depend on the order in which blocks, threads and
// streams run. The host device's schedules are drawn from a seed; CUDA has its own, and there this
// oracle sees no more than `repetition`.
//
// The plan's own schedule at both ends and others between them. Fails when the two agree and one of
// the others differs from them.
// Can be wrong: about targets wrongly declared deterministic (float atomics).
// Cost: 16 trials, in one worker.
#pragma once

#include "core/oracle.h"

namespace redzone::oracles {

class ScheduleOracle final : public Oracle {
 public:
  std::string_view name() const override { return "schedule"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  std::vector<TrialSpec> unvaried(const Plan& plan, const TargetSpec& spec) const override;
  std::vector<std::string_view> varies() const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;
};

}  // namespace redzone::oracles
