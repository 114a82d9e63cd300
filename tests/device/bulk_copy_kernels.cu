#include "tests/device/bulk_copy_kernels.h"

#include <redzone/bulk_copy.h>

namespace redzone::device::testing {
namespace {

template <int kRank>
__device__ void issue(void* to, const TensorMap& map, Barrier& barrier, const int (&at)[5]) {
  if constexpr (kRank == 1) copy_tile(to, map, barrier, at[0]);
  if constexpr (kRank == 2) copy_tile(to, map, barrier, at[0], at[1]);
  if constexpr (kRank == 3) copy_tile(to, map, barrier, at[0], at[1], at[2]);
  if constexpr (kRank == 4) copy_tile(to, map, barrier, at[0], at[1], at[2], at[3]);
  if constexpr (kRank == 5) copy_tile(to, map, barrier, at[0], at[1], at[2], at[3], at[4]);
}

// Aligned to 1024 bytes, where the swizzle patterns begin.
__device__ unsigned char* tile_memory() {
  unsigned char* const begin = dynamic_shared<unsigned char>();
  return begin + (1024 - reinterpret_cast<std::uintptr_t>(begin) % 1024) % 1024;
}

template <int kRank>
__global__ void copy_tiles(const __grid_constant__ TensorMap map, TileAt tiles, unsigned bytes,
                           unsigned char* to) {
  __shared__ Barrier barrier;
  unsigned char* const tile = tile_memory();
  if (threadIdx.x == 0) {
    barrier_init(barrier, 1);
    barrier_fence();
  }
  __syncthreads();
  for (unsigned i = 0; i < 2; ++i) {
    if (threadIdx.x == 0) {
      reuse_fence();
      barrier_expect(barrier, bytes);
      issue<kRank>(tile, map, barrier, tiles.at[i]);
    }
    barrier_wait(barrier, i);
    for (unsigned k = threadIdx.x; k < bytes; k += blockDim.x) to[i * bytes + k] = tile[k];
    __syncthreads();
  }
}

__global__ void leave_tile(const __grid_constant__ TensorMap map, TileAt tiles, unsigned bytes,
                           unsigned char*) {
  __shared__ Barrier barrier;
  barrier_init(barrier, 1);
  barrier_expect(barrier, bytes);
  copy_tile(tile_memory(), map, barrier, tiles.at[0][0]);
}

// A planted error that the host device must find. UndefinedBehaviorSanitizer would end the process
// first, so this function is not instrumented.
__attribute__((no_sanitize("undefined"))) __global__ void misplace_barrier(
    const __grid_constant__ TensorMap, TileAt, unsigned, unsigned char*) {
  barrier_init(*reinterpret_cast<Barrier*>(tile_memory() + 4), 1);
}

}  // namespace

KernelRef copy_tiles_kernel(int rank) {
  switch (rank) {
    case 1:
      return kernel_ref("copy_tiles", copy_tiles<1>);
    case 2:
      return kernel_ref("copy_tiles", copy_tiles<2>);
    case 3:
      return kernel_ref("copy_tiles", copy_tiles<3>);
    case 4:
      return kernel_ref("copy_tiles", copy_tiles<4>);
    default:
      return kernel_ref("copy_tiles", copy_tiles<5>);
  }
}

KernelRef leave_tile_kernel() {
  return kernel_ref("leave_tile", leave_tile);
}

KernelRef misplace_barrier_kernel() {
  return kernel_ref("misplace_barrier", misplace_barrier);
}

}  // namespace redzone::device::testing
