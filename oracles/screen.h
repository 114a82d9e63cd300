// The screen: two trials that differ in many axes at once, for throughput.
//
// Claims: a plan whose calls are right gives the same outputs in both, faults in neither and leaves
// every canary and const input alone, and asks for the scratch that its kernels need; and the
// outputs of the second match the reference; those of the first do, too, where the target is
// declared nondeterministic, as there nothing else is known of them. Can be wrong: never by itself
// about a fault or a canary. A difference says only that something matters; the single-axis oracles
// say what. Bugs that show the same wrong result in both trials are seen only by the reference.
// Cost: 2 trials; the second is not needed (and judge() copes without it) when the first faults.
#pragma once

#include <utility>
#include <vector>

#include "core/mode_axes.h"
#include "core/oracle.h"

namespace redzone::oracles {

struct ScreenOptions {
  Launch relaxed = Launch::gated;  // how trial A launches
};

// A: relaxed launches, the plan's allocator (if it is `guard`: tail), the plan's poison, steps as
// written.
// B: blocking launches, guard (head, or tail where A has no guard), independent calls in reverse
// order, reference; and another value of each axis that says so (ModeAxis::screened), such as the
// poison.
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
