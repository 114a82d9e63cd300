// The benchmark: the cost of the harness, the time until it finds the puzzles, the cost of a fault.
#pragma once

#include "bench/setup.h"

namespace redzone::bench {

// Runs all parts; `report` already has the environment. If setup.stop() ends it early, the report
// has what was measured so far.
Result<void> run_benchmark(const Setup& setup, Report& report);

}  // namespace redzone::bench
