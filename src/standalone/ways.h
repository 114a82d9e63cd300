// The ways to run an exported plan so that its failure shows without an oracle.
#pragma once

#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace redzone::standalone {

// One way to run the plan. All ways of a plan must give the same outputs.
struct Way {
  std::string_view what;  // for people
  Mode mode;
  // Each call uses a new instance of the target after all earlier work has completed
  bool alone = false;
};

// The plan as found, followed by the other way to run it for kinds that are detected by a
// comparison. A usage error for kinds that do not show without Redzone.
Result<std::vector<Way>> ways_to_run(FailKind kind, const Mode& mode);

// Returns a usage error for a tensor that the program could not judge, because it compares whole
// outputs.
Result<void> check_tensor(const TensorSpec& tensor);

}  // namespace redzone::standalone
