// A tool that finds out more about a confirmed failure than the device reports by itself.
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

  // Runs this trial of `plan`, which shows the failure, again with `runner` and returns what the
  // tool reports about `signature`. Empty if the tool does not apply to this kind of failure or
  // device. A tool that applies but is missing or fails gives the reason in `detail`, never an
  // error, because the finding stands without the tool's report. Returns early with partial results
  // once `stop` returns true; an empty `stop` never stops.
  virtual std::vector<Attribution> attribute(exec::Runner& runner, const Plan& plan,
                                             const TrialSpec& trial, const Signature& signature,
                                             const std::function<bool()>& stop) = 0;
};

}  // namespace redzone::campaign
