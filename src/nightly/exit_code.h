// The exit code of a night: core/exit_code.h, by the ranking of core/run_result.h.
#pragma once

#include <optional>

#include "core/error.h"
#include "nightly/parts.h"
#include "report/night.h"

namespace redzone::nightly {

// The exit code of a night that ran to its end or was ended by a problem. 1: there is an alarm
// (report/night.h), whatever else happened. 3: the night ended early, or the harness could not
// judge a known finding or a plan of the corpus. 2: the corpus has files that cannot be read, or a
// target's spec has a mistake. Otherwise the code follows from the worst result of the targets
// (rank_plans()), the replayed findings and the plans of the corpus, each taken separately: 3 and 4
// also result if they apply to only one of them. Findings that cannot run here or were not reached
// do not count, nor do such plans of targets that were not to be fuzzed.
int night_exit_code(const report::Night& night, bool broken_corpus);

// The exit code of all parts of a night; empty if a part is missing or was cut off, since it might
// have found something. Returns the most urgent code of the parts, in the order 5, 1, 3, 2, 0, 4; a
// part of a fleet that ended with 3 and was run again does not count.
std::optional<int> exit_code_of(const NightParts& night);

}  // namespace redzone::nightly
