// What finds the mistakes of launchers: the lazily compiled launch over CUDA C++ and over packages.
#pragma once

#include "bench/setup.h"

namespace redzone::bench {

// Adds to report.launchers: a row for each puzzle that is a launcher with one mistake, and a line
// for each launcher without: those of packages where there are any, else those that ship. Where the
// device has packages, also adds their throughput to report.throughput. What cannot be measured
// here says why.
Result<void> measure_launchers(const Setup& setup, Report& report);

}  // namespace redzone::bench
