// The cost of a fault for the driver: the faulting trial, and the wait for another worker.
#pragma once

#include "bench/setup.h"

namespace redzone::bench {

// Finds a puzzle's plan that faults and repeatedly kills the only worker with it: with a spare
// worker that is ready by then, and without one. Before and after each fault it runs `harmless`, by
// default a plan of the workload "tiny".
FaultCost measure_fault_cost(const Setup& setup, std::optional<Plan> harmless = {});

}  // namespace redzone::bench
