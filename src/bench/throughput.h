// Calls per second of one workload: bare, under the screen, under memcheck.
#pragma once

#include <string_view>

#include "bench/setup.h"

namespace redzone::bench {

// A column that cannot be measured gets the reason; an error means that nothing can be measured.
Result<Throughput> measure_throughput(const Setup& setup, std::string_view workload);

}  // namespace redzone::bench
