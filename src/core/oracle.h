// The interface of an oracle: it requests trials and judges their observations; both are pure
// functions.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/trial.h"
#include "core/verdict.h"

namespace redzone {

class Oracle {
 public:
  virtual ~Oracle() = default;
  virtual std::string_view name() const = 0;

  // The trials that this oracle needs for `plan`; empty if it does not apply, or needs no device.
  virtual std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const = 0;

  // Further trials that depend on the observations of those of expand(). They run one after another
  // in one worker; judge() receives their observations after the others. Most oracles need none.
  virtual std::vector<TrialSpec> follow_up(const Plan&, const TargetSpec&,
                                           std::span<const Observation>) const {
    return {};
  }

  // For an oracle that compares trials which differ in one setting: as many trials as expand()
  // returns, all with the same setting. Differences between these trials do not depend on the
  // setting. Empty if the oracle varies nothing.
  virtual std::vector<TrialSpec> unvaried(const Plan&, const TargetSpec&) const { return {}; }

  // Names of axes (mode_axes.h) that attribution skips for failures of this oracle. The first is
  // the axis that the verdict already reports; the oracle's trials cover many values of the others.
  virtual std::vector<std::string_view> varies() const { return {}; }

  // True if all trials of the oracle run one after another in one fresh worker instead of one
  // worker each. For trials with blocked launches: the driver waits for the device when a process
  // launches a kernel for the first time, which would release the block, so a trial without a
  // blocked launch runs first.
  virtual bool shares_worker() const { return false; }

  // `observations` are those of the trials of expand(), then those of follow_up(), in order.
  // Deterministic, without side effects.
  virtual Verdict judge(const Plan& plan, const TargetSpec& spec,
                        std::span<const Observation> observations) const = 0;
};

}  // namespace redzone
