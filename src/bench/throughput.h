// Calls per second of one workload: bare, under the screen, under memcheck.
#pragma once

#include <string_view>

#include "bench/setup.h"
#include "bench/workload.h"

namespace redzone::bench {

// A column that cannot be measured gets the reason. An error means that nothing can be measured.
Result<Throughput> measure_throughput(const Setup& setup, std::string_view workload);
// Like measure_throughput(), for plans of Python targets, whose bare process can only make calls.
// Columns: `bare`, those of the screen, and `bare` under memcheck; Python workers do not run under
// a tool.
Throughput measure_python_throughput(const Setup& setup, const Workload& workload);

}  // namespace redzone::bench
