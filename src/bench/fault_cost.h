// The cost of a fault for the driver: the faulting trial, and the wait for another worker.
#pragma once

#include "bench/setup.h"

namespace redzone::bench {

// Finds a plan of a puzzle that faults and repeatedly kills the only worker with it: with a spare
// worker that is up by then, and without one.
FaultCost measure_fault_cost(const Setup& setup);

}  // namespace redzone::bench
