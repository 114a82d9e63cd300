// The output of `redzone bisect ID --passing PLAN.toml`: text, or JSON
//
//   {"finding", "signature", "sentence", "failing": RUNS, "passing": RUNS, "differences": [text],
//    "go": CHANGE or null, "come": CHANGE or null, "complete", "runs_made"}
//
// with RUNS and CHANGE as in report/bisect.h.
#pragma once

#include <string>

#include "bisect/between.h"
#include "core/finding.h"

namespace redzone::report {

std::string between_text(const Finding& finding, const bisect::Between& between);
std::string between_json(const Finding& finding, const bisect::Between& between);

}  // namespace redzone::report
