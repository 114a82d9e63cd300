// Measures which oracles find the mistakes of launchers: the lazily compiled launch over CUDA C++
// and packages.
#pragma once

#include "bench/setup.h"

namespace redzone::bench {

// Adds to report.launchers: a row for each puzzle that is a launcher with one mistake, and a line
// for each correct launcher: those of packages if there are any, else the shipped ones. Parts that
// cannot be measured here get the reason.
Result<void> measure_launchers(const Setup& setup, Report& report);

}  // namespace redzone::bench
