// Measures which mode finds which puzzles: runs each puzzle in each run mode, on the same plans.
#pragma once

#include "bench/setup.h"

namespace redzone::bench {

// Adds to report.modes. Runs small plans, the same for all columns of a puzzle, one at a time; a
// cell ends after effort.mode_trials plans or effort.mode_cell, whichever comes first. If
// compute-sanitizer is unavailable, the columns that need it get the reason.
Result<void> measure_modes(const Setup& setup, Report& report);

}  // namespace redzone::bench
