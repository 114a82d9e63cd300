// The benchmark: what the harness costs, how soon it finds the puzzles, what a fault costs.
#pragma once

#include "bench/setup.h"

namespace redzone::bench {

// All of it, in one go; `report` has the environment already. When setup.stop() ends it early, what
// was measured so far is in the report.
Result<void> run_benchmark(const Setup& setup, Report& report);

}  // namespace redzone::bench
