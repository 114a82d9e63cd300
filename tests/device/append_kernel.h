// A kernel that shows in which order operations ran.
#pragma once

#include <redzone/kernel.h>

namespace redzone::device::testing {

// log[0] values are in the log, from log[1] on.
inline __global__ void append(int* log, int value) {
  log[1 + log[0]] = value;
  log[0] += 1;
}

}  // namespace redzone::device::testing
