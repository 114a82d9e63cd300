// Tensor bulk copies (TMA) into shared memory, and the barriers that they complete on. For kernels
// that nvcc and g++ compile ahead of time; not available under NVRTC.
//
// On CUDA these are the instructions of PTX ISA 8.0 for compute capability 9.0 ("Data Movement and
// Conversion Instructions: cp.async.bulk.tensor", "mbarrier"); a kernel built for a lower compute
// capability traps when it executes one. On the host device the calls are emulated: out-of-bounds
// fill, the swizzles of 32, 64 and 128 bytes, element strides; no interleave, no im2col, no packed
// types.
//
// One thread initializes a barrier, fences, and the block synchronizes; then, for each tile,
//
//     if (threadIdx.x == 0) {
//       barrier_expect(barrier, bytes);                 // arrives, and expects this many bytes
//       copy_tile(shared, map, barrier, x, y);          // coordinates, the innermost first
//     }
//     barrier_wait(barrier, phase);                     // 0, then 1, 0, ...
//
// A tile is stored as box[0] x ... elements, innermost first, including those out of bounds, at a
// multiple of 128 bytes of shared memory. The innermost coordinate must be at a multiple of 16
// bytes: any other is an illegal instruction, which cuTensorMapEncodeTiled cannot detect.
#pragma once

#include <redzone/kernel.h>
#include <redzone/tensor_map.h>

#ifndef __CUDACC__
#include <redzone/host_bulk_copy.h>
#endif

namespace redzone {

// Lives in shared memory. Only the functions below access it.
struct alignas(8) Barrier {
  unsigned long long word;
};

// Offset within `tile` of the byte that is at `offset` without swizzle, for a map with a swizzle of
// `span` bytes (32, 64, 128; 0: none). The pattern depends on addresses in shared memory: it is the
// same for all tiles that begin at a multiple of 1024 bytes.
__device__ inline unsigned swizzled_offset(const void* tile, unsigned offset, unsigned span) {
#ifdef __CUDACC__
  const unsigned begin = static_cast<unsigned>(__cvta_generic_to_shared(tile));
#else
  const unsigned begin = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(tile));
#endif
  const unsigned units = span == 0 ? 0 : span / 16 - 1;
  const unsigned address = begin + offset;
  return (address ^ ((address >> 7 & units) << 4)) - begin;
}

#ifdef __CUDACC__

namespace detail {

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

}  // namespace detail

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define REDZONE_BULK_COPY(...) __trap()
#else
#define REDZONE_BULK_COPY(...) asm volatile(__VA_ARGS__)
#endif

// A phase ends when `arrivals` threads and all expected bytes have arrived.
__device__ inline void barrier_init(Barrier& barrier, unsigned arrivals) {
  REDZONE_BULK_COPY(
      "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(detail::shared_address(&barrier)),
      "r"(arrivals)
      : "memory");
}
// Call after barrier_init() and before the block synchronizes.
__device__ inline void barrier_fence() {
  REDZONE_BULK_COPY("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");
}
// Orders earlier reads and writes of the threads before a bulk copy that overwrites the same
// memory.
__device__ inline void reuse_fence() {
  REDZONE_BULK_COPY("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void barrier_arrive(Barrier& barrier) {
  REDZONE_BULK_COPY(
      "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(detail::shared_address(&barrier))
      : "memory");
}
__device__ inline void barrier_expect(Barrier& barrier, unsigned bytes) {
  REDZONE_BULK_COPY("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                        detail::shared_address(&barrier)),
                    "r"(bytes)
                    : "memory");
}
// Waits until the phase of this parity has ended.
__device__ inline void barrier_wait(Barrier& barrier, unsigned parity) {
  unsigned over = 0;
  while (over == 0)
    REDZONE_BULK_COPY(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(over)
        : "r"(detail::shared_address(&barrier)), "r"(parity)
        : "memory");
}

#define REDZONE_COPY_TILE(rank, at, ...)                                                   \
  REDZONE_BULK_COPY("cp.async.bulk.tensor." rank                                           \
                    ".shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {" at \
                    "}], [%2];" ::"r"(detail::shared_address(shared)),                     \
                    "l"(&map), "r"(detail::shared_address(&barrier)), __VA_ARGS__          \
                    : "memory")

__device__ inline void copy_tile(void* shared, const TensorMap& map, Barrier& barrier, int x) {
  REDZONE_COPY_TILE("1d", "%3", "r"(x));
}
__device__ inline void copy_tile(void* shared, const TensorMap& map, Barrier& barrier, int x,
                                 int y) {
  REDZONE_COPY_TILE("2d", "%3, %4", "r"(x), "r"(y));
}
__device__ inline void copy_tile(void* shared, const TensorMap& map, Barrier& barrier, int x, int y,
                                 int z) {
  REDZONE_COPY_TILE("3d", "%3, %4, %5", "r"(x), "r"(y), "r"(z));
}
__device__ inline void copy_tile(void* shared, const TensorMap& map, Barrier& barrier, int x, int y,
                                 int z, int u) {
  REDZONE_COPY_TILE("4d", "%3, %4, %5, %6", "r"(x), "r"(y), "r"(z), "r"(u));
}
__device__ inline void copy_tile(void* shared, const TensorMap& map, Barrier& barrier, int x, int y,
                                 int z, int u, int v) {
  REDZONE_COPY_TILE("5d", "%3, %4, %5, %6, %7", "r"(x), "r"(y), "r"(z), "r"(u), "r"(v));
}

#undef REDZONE_COPY_TILE
#undef REDZONE_BULK_COPY

#else

REDZONE_UNCHECKED inline void barrier_init(Barrier& barrier, unsigned arrivals) {
  host::check_barrier(&barrier);
  host::note_access(&barrier, sizeof barrier, host::AccessKind::write, REDZONE_CODE);
  host::store_barrier(&barrier, {0, arrivals & 0x7fffu, arrivals, 0});
}
inline void barrier_fence() {
  host::yield_point();
}
inline void reuse_fence() {
  host::yield_point();
}
REDZONE_UNCHECKED inline void barrier_expect(Barrier& barrier, unsigned bytes) {
  host::check_barrier(&barrier);
  host::yield_point();
  host::note_access(&barrier, sizeof barrier, host::AccessKind::atomic_update, REDZONE_CODE);
  host::note_arrive(&barrier);
  host::BarrierFields fields = host::load_barrier(&barrier);
  fields.bytes += bytes;
  fields.pending -= 1u;
  host::store_barrier(&barrier, fields);
}
inline void barrier_arrive(Barrier& barrier) {
  barrier_expect(barrier, 0);
}
REDZONE_UNCHECKED inline void barrier_wait(Barrier& barrier, unsigned parity) {
  host::check_barrier(&barrier);
  host::note_access(&barrier, sizeof barrier, host::AccessKind::atomic_read, REDZONE_CODE);
  const auto over = [&] { return host::load_barrier(&barrier).phase != parity; };
  // If the phase has ended, do not let copies of the next phase arrive: they are not due yet.
  for (bool again = false; !over(); again = true) {
    host::self.runtime->await(&barrier);
    if (over()) break;
    host::self.runtime->stall(again);
  }
  host::note_waited(&barrier);
}

template <class... Coordinates>
void copy_tile(void* shared, const TensorMap& map, Barrier& barrier, Coordinates... coordinates) {
  static_assert(sizeof...(coordinates) >= 1 && sizeof...(coordinates) <= tma::kMaxRank);
  const std::int32_t at[] = {static_cast<std::int32_t>(coordinates)...};
  host::issue_tile(shared, map, &barrier, sizeof...(coordinates), at);
}

#endif

}  // namespace redzone
