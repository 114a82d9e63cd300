// Kernels of one thread for tests of the order of operations.
#pragma once

#include <redzone/kernel.h>

namespace redzone::testing {

// p[i] = value.
__global__ inline void fill(float* p, int n, float value) {
  for (int i = 0; i < n; ++i) p[i] = value;
}

// y[i] = x[i] + p[i].
__global__ inline void add(const float* x, const float* p, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] + p[i];
}

}  // namespace redzone::testing
