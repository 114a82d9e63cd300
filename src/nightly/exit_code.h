// The exit code of a night: core/exit_code.h, by the ranking of core/run_result.h.
#pragma once

#include <optional>

#include "core/error.h"
#include "nightly/parts.h"
#include "report/night.h"

namespace redzone::nightly {

// For a night that ran to its end or was ended by a problem. 1: there is an alarm (report/night.h),
// whatever else happened. 3: the night ended early, or a known finding or a plan of the
// corpus could not be judged because of the harness. 2: the corpus has files that cannot be read.
// Otherwise by what was judged, for each target separately (rank_plans()), each replayed finding
// and each plan of the corpus: 3 and 4 also if they apply to a single one of them. Findings that
// cannot run here or had no turn do not count, nor do such plans of targets that were not to be
// fuzzed.
int night_exit_code(const report::Night& night, bool broken_corpus);

// For all parts of a night; empty if a part is missing or was cut off and might have found
// something. The most urgent of the parts' codes is returned, in the order 5, 1, 3, 2, 0, 4; a part
// of a fleet that ended with 3 and was run again does not count.
std::optional<int> exit_code_of(const NightParts& night);

}  // namespace redzone::nightly
