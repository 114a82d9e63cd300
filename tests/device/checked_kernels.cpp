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

// Each thread reads what another has written, but for the last one.
template <bool kAll>
__global__ void reads_neighbour(int* out) {
  __shared__ int tile[65];
  tile[threadIdx.x] = 1;
  if (kAll && threadIdx.x == 0) tile[64] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x + 1];  // mark: reads a neighbour
}

// Some of the bytes that a vector copy moves are padding.
template <bool kSome>
__global__ void moves_padding(int* out) {
  struct alignas(16) Padded {
    int value, more, padding[2];
  };
  Padded* const all = redzone::dynamic_shared<Padded>();
  if (kSome && threadIdx.x == 0) all[0].value = all[0].more = 5;
  __syncthreads();
  volatile std::size_t bytes = sizeof(Padded);
  Padded mine;
  std::memcpy(&mine, &all[0], bytes);
  out[threadIdx.x] = mine.value;
}

// A copy of a small struct moves its padding, too.
template <bool kWritten>
__global__ void copies_a_pair(int* out) {
  struct Pair {
    float value;
    bool valid;
  };
  Pair* const all = redzone::dynamic_shared<Pair>();
  if (kWritten && threadIdx.x == 0) {
    all[0].value = 5;
    all[0].valid = true;
  }
  __syncthreads();
  volatile std::size_t bytes = sizeof(Pair);
  Pair mine;
  std::memcpy(&mine, &all[0], bytes);
  out[threadIdx.x] = static_cast<int>(mine.value);
}

// Each lane gets its own value, the upper half with masks that do not name it.
template <bool kNamed>
__global__ void shuffles_by_mask(int* out) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned mask = kNamed ? 0xffffffffu : lane < 16 ? 0xffffu : 0u;
  out[threadIdx.x] = __shfl_sync(mask, 1, static_cast<int>(lane));  // mark: by a mask
}

// A sum over a warp whose upper half may have left.
template <bool kAll>
__global__ void sums_a_warp(int* out) {
  int sum = static_cast<int>(threadIdx.x);
  if (!kAll && threadIdx.x % 32 >= 16) return;
  for (int delta = 16; delta > 0; delta /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, delta);  // mark: shuffles
  out[threadIdx.x] = sum;
}

template <bool kAll>
__global__ void waits_for_all(int* out) {
  if (!kAll && threadIdx.x == 7) return;
  __syncthreads();  // mark: waits
  out[threadIdx.x] = 1;
}

// One half of the threads waits in the branch, the other one behind it.
template <bool kTogether>
__global__ void waits_in_a_branch(int* out) {
  if (kTogether || threadIdx.x % 2 == 0) {
    out[threadIdx.x] = 1;
    __syncthreads();  // mark: waits in a branch
  }
  if (kTogether || threadIdx.x % 2 != 0) __syncthreads();
}

// Whole warps wait in different places, which the hardware allows.
template <bool kTogether>
__global__ void warps_wait_apart(int* out) {
  if (kTogether || threadIdx.x < 32) {
    out[threadIdx.x] = 1;
    __syncthreads();
  } else {
    __syncthreads();  // mark: warps wait
  }
}

// Both branches of a warp meet in one operation, or in two of one kind.
template <bool kTogether>
__global__ void shuffles_in_branches(int* out) {
  int got = 0;
  if (kTogether || threadIdx.x % 2 == 0)
    got = __shfl_xor_sync(0xffffffffu, 1, 1);
  else
    got = __shfl_xor_sync(0xffffffffu, 2, 1);  // mark: shuffles in a branch
  out[threadIdx.x] = got;
}

template <bool kFits>
__global__ void multiplies(int* out) {
  const int pitch = kFits ? 3 : 1 << 30;
  out[threadIdx.x] =
      static_cast<int>(threadIdx.x) * (pitch + out[threadIdx.x]);  // mark: multiplies
}

template <bool kFits>
__global__ void shifts(int* out) {
  out[threadIdx.x] = 1 << (kFits ? threadIdx.x % 32 : threadIdx.x);
}

template <bool kInside>
__global__ void indexes(int* out) {
  int table[32] = {};
  table[threadIdx.x % 32] = 1;
  out[threadIdx.x] = table[kInside ? threadIdx.x % 32 : threadIdx.x];
}

template <bool kAligned>
__global__ void loads_vectors(int* out) {
  const auto begin = (reinterpret_cast<std::uintptr_t>(out) + 15) & ~std::uintptr_t{15};
  const auto at = begin + (kAligned ? 16 : 4) * (threadIdx.x % 4);
  const int4 vector = *reinterpret_cast<const int4*>(at);
  out[threadIdx.x + 64] = vector.x + vector.w;
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
    {"reads_neighbour", reads_neighbour<true>, reads_neighbour<false>},
    {"moves_padding", moves_padding<true>, moves_padding<false>},
    {"copies_a_pair", copies_a_pair<true>, copies_a_pair<false>},
    {"shuffles_by_mask", shuffles_by_mask<true>, shuffles_by_mask<false>},
    {"sums_a_warp", sums_a_warp<true>, sums_a_warp<false>},
    {"waits_for_all", waits_for_all<true>, waits_for_all<false>},
    {"waits_in_a_branch", waits_in_a_branch<true>, waits_in_a_branch<false>},
    {"warps_wait_apart", warps_wait_apart<true>, warps_wait_apart<false>},
    {"shuffles_in_branches", shuffles_in_branches<true>, shuffles_in_branches<false>},
    {"multiplies", multiplies<true>, multiplies<false>},
    {"shifts", shifts<true>, shifts<false>},
    {"indexes", indexes<true>, indexes<false>},
    {"loads_vectors", loads_vectors<true>, loads_vectors<false>},
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
