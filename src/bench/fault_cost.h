// What a fault costs the driver: the trial that faults, and the wait for another worker.
#pragma once

#include "bench/setup.h"

namespace redzone::bench {

// Looks for a plan of a puzzle that faults, and lets it take the only worker again and again: with
// a spare worker that is up by then, and without one.
FaultCost measure_fault_cost(const Setup& setup);

}  // namespace redzone::bench
