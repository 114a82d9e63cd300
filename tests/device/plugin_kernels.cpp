// Kernels in a separate shared object. See plugin_test.cpp.
#include <redzone/kernel.h>
#include <redzone/target.h>

// Passes a token from block to block, so blocks wait for blocks. `tile` must be each block's own.
__global__ void relay(unsigned* token, unsigned* intact) {
  __shared__ unsigned tile[64];
  tile[threadIdx.x] = blockIdx.x * 64 + threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned turn = gridDim.x - 1 - blockIdx.x;  // the last block goes first
    while (atomicAdd(token, 0u) != turn) {
    }
    atomicAdd(token, 1u);
  }
  __syncthreads();
  if (tile[63 - threadIdx.x] == blockIdx.x * 64 + 63 - threadIdx.x) atomicAdd(intact, 1u);
}

// As plugins have it that were built for the checks of an earlier version.
extern "C" __attribute__((visibility("default"))) void redzone_set_access_sink(void*) {}

extern "C" __attribute__((visibility("default"))) void relay_kernel(redzone::KernelRef* kernel) {
  *kernel = redzone::kernel_ref("relay", relay);
}
