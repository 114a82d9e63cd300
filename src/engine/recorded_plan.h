// What is known of a plan that once failed, beside the plan: a finding's, or that of a plan file.
#pragma once

#include <optional>
#include <string>

#include "core/environment.h"
#include "core/verdict.h"

namespace redzone::engine {

struct RecordedPlan {
  std::string name;                   // in errors and notes: "finding 3", "plan.toml"
  std::string oracle;                 // oracle that judged it; "" if none is named
  std::optional<FailKind> kind = {};  // of the failure, if one is recorded
  Environment found_in = {};          // for a finding
};

}  // namespace redzone::engine
