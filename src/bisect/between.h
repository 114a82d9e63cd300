// From a failing plan and a given passing one: finds which of their differences matter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bisect/bisect.h"

namespace redzone::bisect {

struct Between {
  Probe failing, passing;
  std::vector<std::string> differences;  // "num_warps = 8": as in the passing plan
  // A smallest set of differences that ends the failure, and a smallest set of the failing plan's
  // settings that restores it in the passing plan. Absent if the plans do not fail and pass.
  std::optional<ChangeSet> go, come;
  std::int64_t runs = 0;
  bool complete = false;
};

// A usage error if the plans have different steps or do not differ. A knob is one difference,
// whatever the number of calls; dims, layouts and seeds are one for each call. Both plans must be
// valid for `spec`.
Result<Between> bisect_between(const Plan& failing, const Plan& passing, const TargetSpec& spec,
                               Prober& prober, double error = 0.02);

std::string sentence(const Between& between);

}  // namespace redzone::bisect
