// Calls per second of one workload: bare, under the screen, under memcheck.
#pragma once

#include <string_view>

#include "bench/setup.h"
#include "bench/workload.h"

namespace redzone::bench {

// A column that cannot be measured gets the reason; an error means that nothing can be measured.
Result<Throughput> measure_throughput(const Setup& setup, std::string_view workload);
// The same for plans of Python targets, whose bare process makes calls only: the columns `bare`, of
// the screen, and `bare` under memcheck, since workers of Python do not run under a tool.
Throughput measure_python_throughput(const Setup& setup, const Workload& workload);

}  // namespace redzone::bench
