// The kernel of the lazily compiled launch. Compiled by NVRTC on CUDA (this text is embedded in the
// plugin) and ahead of time by g++ for the host device, so: no standard headers, C++17.
#ifndef REDZONE_LAZY_KERNELS_CUH
#define REDZONE_LAZY_KERNELS_CUH

#include <redzone/kernel.h>

namespace redzone_lazy {

using i64 = long long;

// y[n, m] += x[m, n] for m < M, n < N; both contiguous.
//
// A program owns TM x TN of x; CTAS consecutive blocks along x share it, as the CTAs of a cluster
// do, each with TM / CTAS of its rows. A block reads its rows along n, stages them in its own part
// of `scratch`, and writes them along m: both accesses are coalesced. The parts are consecutive in
// the order of the blocks, TM / CTAS * TN floats each. Each part is written completely, with zeros
// beyond the end of x, as compilers do that mask the load but not the staging.
template <int TM, int TN, int CTAS>
__global__ void transpose_add(const float* x, float* y, float* scratch, i64 M, i64 N) {
  constexpr int kRows = TM / CTAS;
  const int rank = static_cast<int>(blockIdx.x % CTAS);
  const i64 first_m = static_cast<i64>(blockIdx.y) * TM + rank * kRows;
  const i64 first_n = static_cast<i64>(blockIdx.x / CTAS) * TN;
  const i64 block = static_cast<i64>(blockIdx.y) * gridDim.x + blockIdx.x;
  float* stage = scratch + block * kRows * TN;
  const int threads = static_cast<int>(blockDim.x);
  for (int i = static_cast<int>(threadIdx.x); i < kRows * TN; i += threads) {
    const i64 m = first_m + i / TN, n = first_n + i % TN;
    stage[i] = m < M && n < N ? x[m * N + n] : 0.0f;
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kRows * TN; i += threads) {
    const i64 m = first_m + i % kRows, n = first_n + i / kRows;
    if (m < M && n < N) y[n * M + m] += stage[i % kRows * TN + i / kRows];
  }
}

}  // namespace redzone_lazy

#endif
