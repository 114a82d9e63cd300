// Known facts about a plan that once failed, other than the plan itself: from a finding or a plan
// file.
#pragma once

#include <optional>
#include <string>

#include "core/environment.h"
#include "core/verdict.h"

namespace redzone::engine {

struct RecordedPlan {
  std::string name;                   // in errors and notes: "finding 3", "plan.toml"
  std::string oracle;                 // oracle that judged it; "" if none is named
  std::optional<FailKind> kind = {};  // kind of the recorded failure, if any
  Environment found_in = {};          // set for a finding
};

}  // namespace redzone::engine
