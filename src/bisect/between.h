// Compares a failing plan with a given passing plan and finds which of their differences matter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bisect/bisect.h"

namespace redzone::bisect {

struct Between {
  Probe failing, passing;
  std::vector<std::string> differences;  // "num_warps = 8": the value in the passing plan
  // `go`: a 1-minimal set of differences that ends the failure. `come`: a 1-minimal set of the
  // failing plan's settings that restores it in the passing plan. Absent if the first plan does not
  // fail or the second does not pass.
  std::optional<ChangeSet> go, come;
  std::int64_t runs = 0;
  bool complete = false;
};

// Returns a usage error if the plans have different steps or do not differ. A knob is one
// difference, whatever the number of calls; each dim, layout and seed is one difference per call.
// Both plans must be valid for `spec`.
Result<Between> bisect_between(const Plan& failing, const Plan& passing, const TargetSpec& spec,
                               Prober& prober, double error = 0.02);

std::string sentence(const Between& between);

}  // namespace redzone::bisect
