// Python targets: calls per second with and without Redzone, and the time that a fault costs.
#pragma once

#include <filesystem>

#include "bench/setup.h"
#include "bench/workload.h"

namespace redzone::bench {

// Plans with small shapes of the target, mostly with up to 14 calls. Deterministic in its
// arguments.
Workload python_workload(const TargetSpec& spec, std::size_t plans);

// The calls of a workload as JSON, for `python -m redzone.bare`.
std::string calls_json(const Workload& workload);

// Measures all kernels of the registry, which must come from one Python file, and the cost of a
// fault with its puzzle. An error means that nothing can be measured.
Result<PythonCalls> measure_python_calls(const Setup& setup);

}  // namespace redzone::bench
