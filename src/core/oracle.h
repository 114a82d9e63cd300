// An oracle: two pure halves around the executor.
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

  // The trials this oracle wants for `plan`; none when it has nothing to say (or needs no device).
  virtual std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec& spec) const = 0;

  // Of an oracle that compares trials which differ in one setting: as many trials as expand()
  // wants, with that setting the same in all of them. What differs between these depends on nothing
  // that the oracle varies. None where the oracle varies nothing.
  virtual std::vector<TrialSpec> unvaried(const Plan&, const TargetSpec&) const { return {}; }

  // Names of axes (mode_axes.h) that tell nothing more of a failure of this oracle. Its verdict
  // says already that the failure depends on the first; its trials are under many values of the
  // others.
  virtual std::vector<std::string_view> varies() const { return {}; }

  // Its trials run one after another in one fresh worker instead of in one each. For trials that
  // hold their launches: a driver waits for the device when a kernel is launched for the first time
  // in a process, which ends the hold, so a trial that does not hold comes before them.
  virtual bool shares_worker() const { return false; }

  // `observations` are those of expand(), in its order. Deterministic; touches nothing outside.
  virtual Verdict judge(const Plan& plan, const TargetSpec& spec,
                        std::span<const Observation> observations) const = 0;
};

}  // namespace redzone
