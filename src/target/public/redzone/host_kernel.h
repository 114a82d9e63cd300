// CUDA C++ for g++: keywords, built-in variables, barriers, warp operations and atomics. Included
// by <redzone/kernel.h> only.
//
// All names are CUDA's own and behave as the CUDA C++ Programming Guide defines. Every CUDA thread
// is a fiber of one operating-system thread, so atomics are plain operations; a spinning thread
// yields to others at atomics, fences and __nanosleep.
#pragma once

#include <redzone/host_checks.h>
#include <redzone/host_math.h>
#include <redzone/host_thread.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// One copy for each resident block: the device swaps the thread-local storage of this shared object
// when it switches blocks.
#define __shared__ static thread_local

#define threadIdx (::redzone::host::self.thread_idx)
#define blockIdx (::redzone::host::self.block_idx)
#define blockDim (::redzone::host::self.block_dim)
#define gridDim (::redzone::host::self.grid_dim)
inline constexpr int warpSize = 32;

// ---- Barriers and fences -----------------------------------------------------------------------

// Barriers are inlined, so that findings about them have the line of the kernel.

__forceinline__ void __syncthreads() {
  redzone::host::note_barrier();
  redzone::host::self.runtime->sync_block(0);
}
__forceinline__ int __syncthreads_count(int predicate) {
  redzone::host::note_barrier();
  return redzone::host::self.runtime->sync_block(predicate).holding;
}
__forceinline__ int __syncthreads_or(int predicate) {
  return __syncthreads_count(predicate) != 0;
}
__forceinline__ int __syncthreads_and(int predicate) {
  redzone::host::note_barrier();
  const auto seen = redzone::host::self.runtime->sync_block(predicate);
  return seen.holding == seen.arrived;
}

namespace redzone::host {

inline void yield_point() {
  if (--self.quantum <= 0 && self.runtime != nullptr) self.runtime->yield();
}

}  // namespace redzone::host

inline void __threadfence_block() {
  redzone::host::yield_point();
  redzone::host::note_fence(redzone::host::FenceScope::block);
}
inline void __threadfence() {
  redzone::host::yield_point();
  redzone::host::note_fence(redzone::host::FenceScope::device);
}
inline void __threadfence_system() {
  __threadfence();
}
inline void __nanosleep(unsigned) {
  redzone::host::self.runtime->yield();
}
// Ticks of a deterministic counter, not of time.
inline long long clock64() {
  return redzone::host::self.runtime->clock();
}
[[noreturn]] inline void __trap() {
  __builtin_trap();
}

// ---- Warp operations ---------------------------------------------------------------------------

namespace redzone::host {

// Returns the value of lane `source`; all shuffles call this. Inlined, like the shuffles, so that
// findings about them have the line of the kernel.
template <class T>
__forceinline__ T exchange(unsigned mask, T value, unsigned source) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  note_warp(mask);
  bits = self.runtime->sync_warp(mask, bits, source).value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline unsigned segment_of(unsigned lane, int width) {
  return lane & ~(static_cast<unsigned>(width) - 1u);
}

}  // namespace redzone::host

template <class T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const unsigned segment = redzone::host::segment_of(redzone::host::self.lane, width);
  const unsigned within = static_cast<unsigned>(source) & (static_cast<unsigned>(width) - 1u);
  return redzone::host::exchange(mask, value, segment + within);
}
template <class T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = redzone::host::self.lane;
  const unsigned within = lane - redzone::host::segment_of(lane, width);
  return redzone::host::exchange(mask, value, within < delta ? lane : lane - delta);
}
template <class T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = redzone::host::self.lane;
  const unsigned within = lane - redzone::host::segment_of(lane, width);
  const bool inside = within + delta < static_cast<unsigned>(width);
  return redzone::host::exchange(mask, value, inside ? lane + delta : lane);
}
template <class T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  const unsigned lane = redzone::host::self.lane;
  const unsigned source = lane ^ static_cast<unsigned>(lane_mask);
  const unsigned end = redzone::host::segment_of(lane, width) + static_cast<unsigned>(width);
  return redzone::host::exchange(mask, value, source < end ? source : lane);
}

__forceinline__ void __syncwarp(unsigned mask = 0xffffffffu) {
  redzone::host::note_warp(mask);
  redzone::host::self.runtime->sync_warp(mask, 0, redzone::host::self.lane);
}

namespace redzone::host {

__forceinline__ WarpResult vote(unsigned mask, int predicate) {
  note_warp(mask);
  return self.runtime->sync_warp(mask, predicate != 0 ? 1 : 0, self.lane);
}

}  // namespace redzone::host

__forceinline__ unsigned __ballot_sync(unsigned mask, int predicate) {
  return redzone::host::vote(mask, predicate).ballot;
}
__forceinline__ int __any_sync(unsigned mask, int predicate) {
  return redzone::host::vote(mask, predicate).ballot != 0;
}
__forceinline__ int __all_sync(unsigned mask, int predicate) {
  const auto seen = redzone::host::vote(mask, predicate);
  return seen.ballot == seen.arrived;
}
// Lanes of the warp that have not exited.
inline unsigned __activemask() {
  return redzone::host::self.runtime->live_lanes();
}

// ---- Atomics -----------------------------------------------------------------------------------

namespace redzone::host {

template <class T, class... Allowed>
inline constexpr bool is_one_of = (std::is_same_v<T, Allowed> || ...);

template <class T>
concept AtomicInteger = is_one_of<T, int, unsigned, unsigned long long>;
template <class T>
concept AtomicOrdered = is_one_of<T, int, unsigned, unsigned long long, long long>;
template <class T>
concept AtomicNumber = is_one_of<T, int, unsigned, unsigned long long, float, double>;
template <class T>
concept AtomicWord = is_one_of<T, int, unsigned, unsigned long long, float>;

// Replaces the value by `change(old)` and returns the old one.
template <class T, class Change>
REDZONE_UNCHECKED T atomic_update(T* address, Change change) {
  yield_point();
  note_access(address, sizeof(T), AccessKind::atomic_update, REDZONE_CODE);
  const T old = *address;
  *static_cast<volatile T*>(address) = change(old);
  return old;
}

template <class T>
using Same = std::type_identity_t<T>;

}  // namespace redzone::host

template <redzone::host::AtomicNumber T>
T atomicAdd(T* address, redzone::host::Same<T> value) {
  // Integers wrap, as on the device.
  return redzone::host::atomic_update(address, [value](T old) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(old) + static_cast<U>(value));
    } else {
      return old + value;
    }
  });
}
template <redzone::host::AtomicInteger T>
T atomicSub(T* address, redzone::host::Same<T> value) {
  using U = std::make_unsigned_t<T>;
  return redzone::host::atomic_update(address, [value](T old) {
    return static_cast<T>(static_cast<U>(old) - static_cast<U>(value));
  });
}
template <redzone::host::AtomicWord T>
T atomicExch(T* address, redzone::host::Same<T> value) {
  return redzone::host::atomic_update(address, [value](T) { return value; });
}
template <redzone::host::AtomicInteger T>
T atomicCAS(T* address, redzone::host::Same<T> compare, redzone::host::Same<T> value) {
  return redzone::host::atomic_update(address, [=](T old) { return old == compare ? value : old; });
}
template <redzone::host::AtomicOrdered T>
T atomicMin(T* address, redzone::host::Same<T> value) {
  return redzone::host::atomic_update(address,
                                      [value](T old) { return value < old ? value : old; });
}
template <redzone::host::AtomicOrdered T>
T atomicMax(T* address, redzone::host::Same<T> value) {
  return redzone::host::atomic_update(address,
                                      [value](T old) { return old < value ? value : old; });
}
template <redzone::host::AtomicInteger T>
T atomicAnd(T* address, redzone::host::Same<T> value) {
  return redzone::host::atomic_update(address, [value](T old) { return old & value; });
}
template <redzone::host::AtomicInteger T>
T atomicOr(T* address, redzone::host::Same<T> value) {
  return redzone::host::atomic_update(address, [value](T old) { return old | value; });
}
template <redzone::host::AtomicInteger T>
T atomicXor(T* address, redzone::host::Same<T> value) {
  return redzone::host::atomic_update(address, [value](T old) { return old ^ value; });
}
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return redzone::host::atomic_update(
      address, [limit](unsigned old) { return old >= limit ? 0u : old + 1u; });
}
inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return redzone::host::atomic_update(
      address, [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1u; });
}

template <class T>
T __ldg(const T* address) {
  return *address;
}
