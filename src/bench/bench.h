// The benchmark: the cost of the harness, the time until it finds the puzzles, the cost of a fault.
#pragma once

#include "bench/setup.h"

namespace redzone::bench {

// Runs all parts; `report` must already contain the environment. If setup.stop() ends the run
// early, the report contains the measurements so far.
Result<void> run_benchmark(const Setup& setup, Report& report);

}  // namespace redzone::bench
