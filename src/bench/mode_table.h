// Which mode finds what: each puzzle under each way to run it, on the same plans.
#pragma once

#include "bench/setup.h"

namespace redzone::bench {

// Adds to report.modes. Small plans, the same for all columns of a puzzle, one at a time; a cell
// ends after effort.mode_trials plans or effort.mode_cell, whichever comes first. Columns that need
// compute-sanitizer say why they were not measured where there is none.
Result<void> measure_modes(const Setup& setup, Report& report);

}  // namespace redzone::bench
