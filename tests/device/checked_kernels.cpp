// Kernels that are built for checks. See kernel_checks_test.cpp, which knows the lines by their
// marks.
#include <redzone/bulk_copy.h>
#include <redzone/kernel.h>
#include <redzone/target.h>

#include <cstring>

namespace {

// Each pair has one kernel without a race and one with.
template <bool kBarrier>
__global__ void through_shared(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);  // mark: writes the tile
  if (kBarrier) __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];  // mark: reads the tile
}

template <bool kBarrier>
__global__ void through_dynamic_shared(int* out) {
  int* tile = redzone::dynamic_shared<int>();
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (kBarrier) __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

// The lanes of a warp exchange through memory.
template <bool kSync>
__global__ void within_a_warp(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (kSync) __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x ^ 1u];
}

// The last block to arrive sums what the others wrote.
template <bool kFence>
__global__ void last_block(int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    out[1 + blockIdx.x] = static_cast<int>(blockIdx.x);
    if (kFence) __threadfence();
    last = atomicAdd(&out[0], 1) == static_cast<int>(gridDim.x) - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += out[1 + b];
  out[1 + gridDim.x] = sum;
}

// Likewise, but each thread writes and fences its own part, and one counts for the block.
template <bool kFence>
__global__ void last_block_of_parts(int* out) {
  __shared__ bool last;
  int* const part = &out[1 + blockIdx.x * blockDim.x];
  part[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (kFence) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&out[0], 1) == static_cast<int>(gridDim.x) - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += out[1 + b * blockDim.x + threadIdx.x];
  part[threadIdx.x] = sum;
}

// A block sets a sum to 0 before its threads add to it.
template <bool kApart>
__global__ void resets_a_sum(int* out) {
  int* const sum = &out[kApart ? blockIdx.x : 0];
  if (threadIdx.x == 0 && (kApart || blockIdx.x == 0)) *sum = 0;
  __syncthreads();
  atomicAdd(sum, 1);
}

// A block waits for the one before it by a volatile flag.
template <bool kFence>
__global__ void relay(int* out) {
  auto* flag = const_cast<volatile int*>(out);
  while (*flag != static_cast<int>(blockIdx.x)) __nanosleep(10);
  __threadfence();
  out[1] += 1;
  if (kFence) __threadfence();
  *flag = static_cast<int>(blockIdx.x) + 1;
}

// A block waits for a flag of another, and takes it back for the next one.
template <bool kWaits>
__global__ void takes_back(int* out) {
  auto* flag = const_cast<volatile int*>(&out[blockIdx.x]);
  if (blockIdx.x > 0) {
    while (kWaits && *flag != 1) __nanosleep(10);
    out[blockIdx.x] = 0;
  }
  __threadfence();
  flag[1] = 1;
}

// By memcpy: a call, since the size is not known.
template <bool kApart>
__global__ void copies_rows(int* out) {
  const int mine[] = {static_cast<int>(threadIdx.x), 0};
  std::memcpy(&out[kApart ? threadIdx.x : 0], mine, gridDim.x * sizeof(int));
}

// Bytes of one word belong to different threads.
template <bool kApart>
__global__ void bytes(int* out) {
  auto* at = reinterpret_cast<unsigned char*>(out);
  at[kApart ? threadIdx.x : threadIdx.x / 2] = static_cast<unsigned char>(threadIdx.x);
}

// Waits at a barrier in memory.
template <bool kWaits>
__global__ void memory_barrier(int* out) {
  __shared__ redzone::Barrier barrier;
  __shared__ int value;
  if (threadIdx.x == 0) redzone::barrier_init(barrier, blockDim.x);
  __syncthreads();
  if (threadIdx.x == 1) value = 7;
  redzone::barrier_arrive(barrier);
  if (kWaits) redzone::barrier_wait(barrier, 0);
  out[threadIdx.x] = value;
}

using Kernel = void (*)(int*);
struct Named {
  const char* name;
  Kernel clean, racy;
};
constexpr Named kAll[] = {
    {"through_shared", through_shared<true>, through_shared<false>},
    {"through_dynamic_shared", through_dynamic_shared<true>, through_dynamic_shared<false>},
    {"within_a_warp", within_a_warp<true>, within_a_warp<false>},
    {"last_block", last_block<true>, last_block<false>},
    {"last_block_of_parts", last_block_of_parts<true>, last_block_of_parts<false>},
    {"resets_a_sum", resets_a_sum<true>, resets_a_sum<false>},
    {"relay", relay<true>, relay<false>},
    {"takes_back", takes_back<true>, takes_back<false>},
    {"copies_rows", copies_rows<true>, copies_rows<false>},
    {"bytes", bytes<true>, bytes<false>},
    {"memory_barrier", memory_barrier<true>, memory_barrier<false>},
};

}  // namespace

// The kernel of this name, with or without its race; false if there is none.
extern "C" __attribute__((visibility("default"))) bool checked_kernel(const char* name, bool racy,
                                                                      redzone::KernelRef* kernel) {
  for (const Named& one : kAll) {
    if (std::strcmp(one.name, name) != 0) continue;
    *kernel = redzone::kernel_ref(one.name, racy ? one.racy : one.clean);
    return true;
  }
  return false;
}
