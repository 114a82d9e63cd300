// A tool that says more of a confirmed failure than the device does by itself.
#pragma once

#include <functional>
#include <vector>

#include "core/attribution.h"
#include "core/verdict.h"
#include "exec/executor.h"

namespace redzone::campaign {

class Attributor {
 public:
  virtual ~Attributor() = default;

  // What the tool tells of `signature` from more runs of this trial of `plan`, which shows it.
  // `runner` runs them. Nothing where it does not apply to such a failure or device. A tool that
  // applies but is absent, or fails, says so in `detail`; it is never an error: what was found
  // stands without it. Ends early, with what it has, once `stop` is true; empty: never.
  virtual std::vector<Attribution> attribute(exec::Runner& runner, const Plan& plan,
                                             const TrialSpec& trial, const Signature& signature,
                                             const std::function<bool()>& stop) = 0;
};

}  // namespace redzone::campaign
