// Header that every kernel source includes. The same source is compiled three ways:
//   * by nvcc and by NVRTC for the GPU: this header adds almost nothing (and no standard header
//     under NVRTC, which has none);
//   * by g++ for the host device: <redzone/host_kernel.h> supplies CUDA's keywords, built-in
//     variables, barriers, warp shuffles, atomics and intrinsics.
//
// Differences from plain CUDA C++, so that all three agree:
//   * dynamic shared memory is `redzone::dynamic_shared<T>()`, never `extern __shared__ T x[]`;
//   * bfloat16 is `redzone::bf16`, IEEE half is `redzone::f16`;
//   * alignment of shared memory is `__shared__ __align__(16) T x[N]`: g++ rejects alignas there;
//   * a loop that waits for another thread goes through an atomic, a fence or __nanosleep. On the
//     host device other threads run only there; a loop that only reads a volatile would never end.
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

// Storage of an IEEE half; arithmetic is done in float. Conversion rounds to nearest even, makes
// subnormals and infinities, and gives the same bits on every device.
struct f16 {
  unsigned short bits;

  f16() = default;
  __host__ __device__ explicit f16(float value) {
    unsigned u;
    memcpy(&u, &value, sizeof u);
    const unsigned sign = (u >> 16) & 0x8000u;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) {
      u = 0x7e00u;  // NaN stays NaN
    } else if (u >= 0x477ff000u) {
      u = 0x7c00u;  // rounds to infinity
    } else if (u < 0x38800000u) {
      // Added to 0.5, a float has the last place of a half subnormal (2^-24), so the sum rounds.
      float sum;
      memcpy(&sum, &u, sizeof u);
      sum += 0.5f;
      memcpy(&u, &sum, sizeof u);
      u -= 0x3f000000u;
    } else {
      u = (u - 0x38000000u + 0xfffu + ((u >> 13) & 1u)) >> 13;
    }
    bits = static_cast<unsigned short>(sign | u);
  }
  __host__ __device__ operator float() const {
    const unsigned magnitude = bits & 0x7fffu;
    float value;
    unsigned u = magnitude << 13;
    if (magnitude < 0x400u) {
      value = static_cast<float>(magnitude) * 5.9604644775390625e-8f;  // 2^-24
      memcpy(&u, &value, sizeof u);
    } else {
      u += magnitude < 0x7c00u ? 0x38000000u : 0x70000000u;  // infinity and NaN keep the highest
    }
    u |= static_cast<unsigned>(bits & 0x8000u) << 16;
    memcpy(&value, &u, sizeof u);
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

// Programmatic dependent launch (LaunchShape::dependent): the dependents of a grid may start once
// every block of the grid has triggered them or has ended. A block has triggered when its first
// thread has. A dependent must read the results of preceding grids only after wait_for_producer(),
// which returns when those grids have ended; a trigger publishes nothing. trigger_dependents() has
// no effect in a grid without dependents, wait_for_producer() has none in a grid that depends on no
// other, and neither has any below compute capability 9.0 (PTX ISA, "griddepcontrol").
__device__ inline void wait_for_producer() {
#ifndef __CUDACC__
  host::self.runtime->wait_for_producer();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline void trigger_dependents() {
#ifndef __CUDACC__
  host::self.runtime->trigger_dependents();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace redzone
