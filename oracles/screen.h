// The screen: two trials that differ in many axes at once, for throughput.
//
// Claims: a correct plan gives the same outputs in both trials, faults in neither, leaves every
// canary and const input unchanged, and requests the scratch that its kernels need. The outputs of
// the second trial match the reference; if the target is declared nondeterministic, so do those of
// the first, which nothing else judges. Can be wrong: never by itself about a fault or a canary. A
// difference shows only that some axis matters; the single-axis oracles find which. Only the
// reference finds bugs that give the same wrong result in both trials. Cost: 2 trials; the second
// is not needed (and judge() accepts its absence) when the first faults.
#pragma once

#include <utility>
#include <vector>

#include "core/mode_axes.h"
#include "core/oracle.h"

namespace redzone::oracles {

struct ScreenOptions {
  Launch relaxed = Launch::gated;  // launch mode of trial A
};

// A: relaxed launches, the plan's allocator (placement guard_after), the plan's poison, steps as
// written; records the order, for the oracle `order`. B: blocking launches, the guard allocator
// (placement guard_before if A uses it too, else guard_after), independent calls in reverse order,
// the reference, and another value of each axis with ModeAxis::screened set, such as the poison.
class ScreenOracle final : public Oracle {
 public:
  explicit ScreenOracle(ScreenOptions options = {}, std::vector<ModeAxis> axes = all_mode_axes())
      : options_(options), axes_(std::move(axes)) {}
  std::string_view name() const override { return "screen"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const override;
  Verdict judge(const Plan& plan, const TargetSpec& spec,
                std::span<const Observation> observations) const override;

 private:
  Verdict judge_trials(const Plan& plan, const TargetSpec& spec,
                       std::span<const Observation> observations) const;

  ScreenOptions options_;
  std::vector<ModeAxis> axes_;
};

}  // namespace redzone::oracles
