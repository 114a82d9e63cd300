// What a kernel source includes. The same source is compiled three ways:
//   * by nvcc and by NVRTC for the GPU: this header adds almost nothing (and no standard header
//     under NVRTC, which has none);
//   * by g++ for the host device: <redzone/host_kernel.h> supplies CUDA's keywords, built-in
//     variables, barriers, warp shuffles, atomics and intrinsics.
//
// What differs from plain CUDA C++, so that all three agree:
//   * dynamic shared memory is `redzone::dynamic_shared<T>()`, never `extern __shared__ T x[]`;
//   * bfloat16 is `redzone::bf16`;
//   * alignment of shared memory is `__shared__ __align__(16) T x[N]`, as g++ takes no alignas
//   there;
//   * a loop that waits for another thread goes through an atomic, a fence or __nanosleep. On the
//     host device these are where others run; a loop that only reads a volatile would never end.
#pragma once

#ifdef __CUDACC__
#ifndef __CUDACC_RTC__
#include <cassert>
#include <cstdio>
#include <cstring>
#endif
#else
#include <redzone/host_kernel.h>
#endif

namespace redzone {

// Storage of a bfloat16; arithmetic is done in float. Conversion rounds to nearest even and gives
// the same bits on every device.
struct bf16 {
  unsigned short bits;

  bf16() = default;
  __host__ __device__ explicit bf16(float value) {
    unsigned u;
    memcpy(&u, &value, sizeof u);
    if ((u & 0x7fffffffu) > 0x7f800000u)
      bits = static_cast<unsigned short>((u >> 16) | 0x40u);  // NaN stays NaN
    else
      bits = static_cast<unsigned short>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  __host__ __device__ operator float() const {
    const unsigned u = static_cast<unsigned>(bits) << 16;
    float value;
    memcpy(&value, &u, sizeof value);
    return value;
  }
};

// The dynamic shared memory of the block, aligned to 16 bytes.
template <class T>
__device__ inline T* dynamic_shared() {
#ifdef __CUDACC__
  extern __shared__ __align__(16) unsigned char redzone_dynamic_shared[];
  return reinterpret_cast<T*>(redzone_dynamic_shared);
#else
  return static_cast<T*>(host::self.dynamic_shared);
#endif
}

}  // namespace redzone
