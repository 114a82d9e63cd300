// The execution model: grids, barriers, shared memory, spinning, deadlock.
#include <gtest/gtest.h>
#include <redzone/kernel.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "core/mode_axes.h"
#include "tests/device/on_device.h"

namespace redzone::device {
namespace {

using testing::Buffer;
using testing::host_device;
using testing::launch;
using testing::read;
using testing::zero;

constexpr std::uint64_t kSeeds[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

__global__ void who_am_i(unsigned* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  atomicAdd(&out[block * threads + thread], 1u + block * 1000u + thread);
}

TEST(Engine, EveryThreadOfEveryBlockRunsOnce) {
  for (std::uint64_t seed : kSeeds) {
    auto device = host_device(seed);
    Buffer<unsigned> out(*device, 2 * 3 * 4 * 5 * 2 * 3);
    zero(*device, out);
    ASSERT_TRUE(launch(*device, 0, "who_am_i", who_am_i, {{2, 3, 4}, {5, 2, 3}}, out.data()));
    ASSERT_TRUE(device->synchronize());
    const auto values = read(*device, out);
    for (unsigned i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], 1 + i / 30 * 1000 + i % 30) << seed;
  }
}

__global__ void block_sum(const int* x, int* sums, int n) {
  __shared__ int tile[256];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  tile[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) tile[threadIdx.x] += tile[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = tile[0];
}

TEST(Engine, BlockReductionWithStaticSharedMemory) {
  for (std::uint64_t seed : kSeeds) {
    auto device = host_device(seed);
    Buffer<int> x(*device, 1000), sums(*device, 4);
    std::iota(x.data(), x.data() + 1000, 0);
    ASSERT_TRUE(
        launch(*device, 0, "block_sum", block_sum, {{4}, {256}}, x.data(), sums.data(), 1000));
    ASSERT_TRUE(device->synchronize());
    EXPECT_EQ(read(*device, sums), (std::vector<int>{32640, 98176, 163712, 204972})) << seed;
  }
}

__global__ void rotate(const int* x, int* y) {
  int* tile = dynamic_shared<int>();
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[(threadIdx.x + 1) % blockDim.x];
}

TEST(Engine, DynamicSharedMemory) {
  for (std::uint64_t seed : kSeeds) {
    auto device = host_device(seed);
    Buffer<int> x(*device, 100), y(*device, 100);
    std::iota(x.data(), x.data() + 100, 0);
    ASSERT_TRUE(launch(*device, 0, "rotate", rotate, {{1}, {100}, 400}, x.data(), y.data()));
    ASSERT_TRUE(device->synchronize());
    for (int i = 0; i < 100; ++i) EXPECT_EQ(y.data()[i], (i + 1) % 100) << seed;
  }
}

__global__ void leak_shared(unsigned* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = dynamic_shared<unsigned>()[0];
}

template <class T>
__global__ void leak_all(T* out) {
  out[threadIdx.x] = dynamic_shared<T>()[threadIdx.x];
}

// What two blocks find in shared memory that they have not written, in trials with these poisons.
template <class Kernel>
std::set<unsigned> found_in_shared(Kernel kernel, std::size_t shared_bytes,
                                   std::initializer_list<std::uint32_t> poisons) {
  std::set<unsigned> seen;
  auto device = host_device();
  Buffer<unsigned> out(*device, 2);
  for (const std::uint32_t poison : poisons) {
    TrialSettings settings;
    settings.poison = poison;
    EXPECT_TRUE(device->begin_trial(settings));
    EXPECT_TRUE(launch(*device, 0, "leak", kernel, {{2}, {32}, shared_bytes}, out.data()));
    EXPECT_TRUE(device->synchronize());
    for (unsigned v : read(*device, out)) seen.insert(v);
  }
  return seen;
}

TEST(Engine, UninitializedSharedMemoryDiffersFromBlockToBlockAndWithThePoison) {
  // In each of two trials, one block finds 0.
  EXPECT_EQ(found_in_shared(leak_shared, 64, {0xffffffff, 0x3f3f3f3f}).size(), 3u);
  EXPECT_EQ(found_in_shared(leak_shared, 64, {1, 2, 3}).size(), 4u);
  EXPECT_EQ(found_in_shared(leak_shared, 64, {1, 1}).size(), 2u);
}

// What the only block of a grid finds in 8 bytes of it.
template <class T>
std::vector<T> found_by_one_block(std::uint32_t poison) {
  constexpr int kElements = 8 / sizeof(T);
  auto device = host_device();
  Buffer<T> out(*device, kElements);
  TrialSettings settings;
  settings.poison = poison;
  EXPECT_TRUE(device->begin_trial(settings));
  EXPECT_TRUE(launch(*device, 0, "leak", leak_all<T>, {{1}, {kElements}, 8}, out.data()));
  EXPECT_TRUE(device->synchronize());
  return read(*device, out);
}

// Two poisons that are compared: one block by itself finds other words, and 0 with one of them.
TEST(Engine, UninitializedSharedMemoryOfOneBlockDiffersWithThePoisonsThatAreCompared) {
  const ModeAxis& axis = mode_axis(axis::kPoison);
  for (const std::uint32_t poison :
       {0xffffffffu, 0x7fa5a5a5u, 0x7f7f7f7fu, 0x3f3f3f3fu, 0xf23f277cu, 0x12345678u}) {
    Plan plan;
    plan.mode.poison = poison;
    TrialSpec other{.mode = plan.mode};
    axis.vary(plan, other);
    const auto one = found_by_one_block<std::uint32_t>(poison)[0];
    const auto two = found_by_one_block<std::uint32_t>(other.mode.poison)[0];
    EXPECT_NE(one, two) << poison;
    EXPECT_TRUE(one == 0 || two == 0) << poison;
  }
}

template <class T>
void expect_both_signs(double least) {
  const auto ones = found_by_one_block<T>(0xffffffff), zeros = found_by_one_block<T>(0);
  for (std::size_t i = 0; i < ones.size(); ++i) {
    const auto one = static_cast<double>(ones[i]), zero = static_cast<double>(zeros[i]);
    EXPECT_GT(std::abs(one), least) << i;
    EXPECT_GT(std::abs(zero), least) << i;
    EXPECT_LT(one * zero, 0) << i;
  }
}

// A maximum or a minimum over it would otherwise often be that of what was written.
TEST(Engine, EachElementOfUninitializedSharedMemoryIsFarFromZeroOnBothSides) {
  expect_both_signs<double>(1e30);
  expect_both_signs<float>(1e30);
  expect_both_signs<std::int64_t>(1e6);
  expect_both_signs<std::int32_t>(1e6);
  expect_both_signs<std::int16_t>(1000);
}

// Of a variable that nothing writes the compiler knows that it is 0.
template <class T>
__global__ void leak_static(unsigned* out) {
  __shared__ T own[3];
  if (out == nullptr) own[threadIdx.x] = 1;
  if (threadIdx.x == 0) out[blockIdx.x] = own[2];
}

TEST(Engine, UninitializedStaticSharedMemoryDiffersFromBlockToBlockAndWithThePoison) {
  EXPECT_EQ(found_in_shared(leak_static<unsigned>, 0, {0xffffffff, 0x3f3f3f3f}).size(), 3u);
  EXPECT_EQ(found_in_shared(leak_static<unsigned>, 0, {1, 2, 3}).size(), 4u);
  EXPECT_EQ(found_in_shared(leak_static<unsigned>, 0, {1, 1}).size(), 2u);
}

// What two blocks find in it, in a trial with this poison.
std::vector<unsigned> statics_found(Device& device, std::uint32_t poison) {
  Buffer<unsigned> out(device, 2);
  TrialSettings settings;
  settings.poison = poison;
  EXPECT_TRUE(device.begin_trial(settings));
  EXPECT_TRUE(launch(device, 0, "leak", leak_static<unsigned>, {{2}, {32}}, out.data()));
  EXPECT_TRUE(device.synchronize());
  return read(device, out);
}

// Each host thread has these variables for itself.
TEST(Engine, StaticSharedMemoryIsPoisonedInTheThreadThatRunsTheKernel) {
  auto device = host_device();
  const auto here = statics_found(*device, 1);
  std::vector<unsigned> elsewhere;
  std::thread([&] { elsewhere = statics_found(*device, 1); }).join();
  EXPECT_EQ(elsewhere, here);
  EXPECT_NE(statics_found(*device, 2), here);
  EXPECT_EQ(statics_found(*device, 1), here);
}

// What the launcher and other kernels keep per thread.
thread_local unsigned calls_of_thread = 7;

__global__ void count_calls(unsigned* out) {
  __shared__ unsigned one;
  if (threadIdx.x == 0) one = 1;
  __syncthreads();
  if (threadIdx.x == 0) *out = calls_of_thread + one;
}

unsigned launches_here() {
  static thread_local unsigned launches = 0;
  return ++launches;
}

TEST(Engine, OtherThreadLocalVariablesKeepTheirValues) {
  auto device = host_device(1);
  Buffer<unsigned> out(*device, 1);
  for (unsigned i = 1; i <= 3; ++i) {
    EXPECT_EQ(launches_here(), i);
    ASSERT_TRUE(launch(*device, 0, "count", count_calls, {{1}, {32}}, out.data()));
    ASSERT_TRUE(device->synchronize());
    EXPECT_EQ(read(*device, out)[0], 8u);
  }
}

__global__ void write_shared(int bytes) {
  dynamic_shared<volatile char>()[bytes - 1] = 1;
}

TEST(Engine, AWriteIntoTheSlackOfSharedMemoryIsSeen) {
  for (int bytes : {1, 15, 16, 100}) {
    auto device = host_device();
    const LaunchShape shape{{1}, {1}, static_cast<std::size_t>(bytes)};
    EXPECT_TRUE(launch(*device, 0, "write_shared", write_shared, shape, bytes));
    EXPECT_TRUE(device->synchronize()) << bytes;
    if (bytes % 16 == 0) continue;  // the guard page follows immediately
    EXPECT_TRUE(launch(*device, 0, "write_shared", write_shared, shape, bytes + 1));
    const auto done = device->synchronize();
    ASSERT_FALSE(done.has_value()) << bytes;
    EXPECT_EQ(done.error().kind, Failure::Kind::fault);
    EXPECT_EQ(done.error().code, kSharedOverrunCode);
    EXPECT_EQ(done.error().bytes_behind_shared, 1);
    ASSERT_TRUE(device->begin_trial({}).has_value());
  }
}

__global__ void clear_shared(int bytes) {
  dynamic_shared<volatile char>()[bytes - 1] = 0;
}

TEST(Engine, AZeroWrittenIntoTheSlackOfSharedMemoryIsSeenWithAnyPoison) {
  for (const std::uint32_t poison : {0xffffffffu, 0x3f3f3f3fu, 0u}) {
    auto device = host_device();
    TrialSettings settings;
    settings.poison = poison;
    ASSERT_TRUE(device->begin_trial(settings));
    EXPECT_TRUE(launch(*device, 0, "clear_shared", clear_shared, {{1}, {1}, 100}, 101));
    EXPECT_FALSE(device->synchronize()) << poison;
  }
}

__global__ void early_exit(int* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  if (t >= n) return;
  __syncthreads();
  out[t] = __syncthreads_count(t % 2);
  out[t] += 1000 * __syncthreads_or(t == 3) + 10000 * __syncthreads_and(t >= 0) +
            100000 * __syncthreads_and(t != 3);
}

TEST(Engine, ExitedThreadsDoNotCountAtBarriers) {
  for (std::uint64_t seed : kSeeds) {
    auto device = host_device(seed);
    Buffer<int> out(*device, 70);
    ASSERT_TRUE(launch(*device, 0, "early_exit", early_exit, {{1}, {128}}, out.data(), 70));
    ASSERT_TRUE(device->synchronize());
    for (int v : read(*device, out)) EXPECT_EQ(v, 11035);
  }
}

// A race that only a missing barrier allows.
__global__ void missing_barrier(int* out) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = static_cast<int>(blockIdx.x) + 1;
  if (threadIdx.x == 1) out[blockIdx.x] = flag;
}

TEST(Engine, SeedsShowAMissingBarrier) {
  std::set<std::vector<int>> results;
  for (std::uint64_t seed : kSeeds) {
    auto device = host_device(seed);
    Buffer<int> out(*device, 4);
    ASSERT_TRUE(launch(*device, 0, "missing_barrier", missing_barrier, {{4}, {64}}, out.data()));
    ASSERT_TRUE(device->synchronize());
    results.insert(read(*device, out));
  }
  EXPECT_GT(results.size(), 1u);
}

__global__ void record_order(int* next, int* order) {
  const int at = atomicAdd(next, 1);
  order[at] = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

std::vector<int> order_of(std::uint64_t seed) {
  auto device = host_device(seed);
  Buffer<int> next(*device, 1), order(*device, 512);
  zero(*device, next);
  EXPECT_TRUE(
      launch(*device, 0, "record_order", record_order, {{8}, {64}}, next.data(), order.data()));
  EXPECT_TRUE(device->synchronize());
  return read(*device, order);
}

TEST(Engine, TheSameSeedGivesTheSameInterleaving) {
  std::vector<int> natural(512);
  std::iota(natural.begin(), natural.end(), 0);
  EXPECT_EQ(order_of(0), natural);
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed : kSeeds) {
    EXPECT_EQ(order_of(seed), order_of(seed));
    orders.insert(order_of(seed));
  }
  EXPECT_GT(orders.size(), 4u);
}

// Each block waits for the block before it, so in most orders blocks wait for blocks that have not
// started. The static variable checks that each resident block has its own copy.
__global__ void chained_blocks(unsigned* flags, unsigned* sums) {
  __shared__ unsigned own;
  if (threadIdx.x == 0) own = blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned before = 0;
    if (blockIdx.x > 0) {
      while (atomicAdd(&flags[blockIdx.x - 1], 0u) == 0) {
      }
      before = sums[blockIdx.x - 1];
    }
    sums[blockIdx.x] = before + own;
    __threadfence();
    atomicExch(&flags[blockIdx.x], 1u);
  }
  __syncthreads();
  if (own != blockIdx.x) sums[blockIdx.x] = 0xffffffffu;
}

TEST(Engine, BlocksMayWaitForEachOther) {
  for (std::uint64_t seed : kSeeds) {
    auto device = host_device(seed);
    constexpr int kBlocks = 100;
    Buffer<unsigned> flags(*device, kBlocks), sums(*device, kBlocks);
    zero(*device, flags);
    ASSERT_TRUE(
        launch(*device, 0, "chain", chained_blocks, {{kBlocks}, {64}}, flags.data(), sums.data()));
    ASSERT_TRUE(device->synchronize());
    for (unsigned i = 0; i < kBlocks; ++i)
      ASSERT_EQ(sums.data()[i], i * (i + 1) / 2) << "block " << i << " seed " << seed;
  }
}

// More blocks than stacks: later blocks must not starve earlier ones.
TEST(Engine, ALongChainOfBlocksCompletes) {
  for (std::uint64_t seed : {0, 1, 2, 3}) {
    auto device = host_device(seed);
    constexpr int kBlocks = 200;
    Buffer<unsigned> flags(*device, kBlocks), sums(*device, kBlocks);
    zero(*device, flags);
    ASSERT_TRUE(launch(*device, 0, "chain", chained_blocks, {{kBlocks}, {1024}}, flags.data(),
                       sums.data()));
    ASSERT_TRUE(device->synchronize());
    ASSERT_EQ(sums.data()[kBlocks - 1], kBlocks * (kBlocks - 1u) / 2) << seed;
  }
}

// Every block waits until all have arrived, so all must be resident at once.
__global__ void grid_barrier(unsigned* arrived, unsigned* seen) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (*static_cast<volatile unsigned*>(arrived) < gridDim.x) __nanosleep(100);
  }
  __syncthreads();
  if (threadIdx.x == 0) seen[blockIdx.x] = *arrived;
}

TEST(Engine, AGridBarrierCompletes) {
  for (std::uint64_t seed : {0, 1, 2}) {
    auto device = host_device(seed);
    Buffer<unsigned> arrived(*device, 1), seen(*device, 120);
    zero(*device, arrived);
    ASSERT_TRUE(launch(*device, 0, "grid_barrier", grid_barrier, {{120}, {96}}, arrived.data(),
                       seen.data()));
    ASSERT_TRUE(device->synchronize());
    for (unsigned v : read(*device, seen)) EXPECT_EQ(v, 120u);
  }
}

// A lock used by the threads of a block.
__global__ void locked(unsigned* lock, int* value) {
  while (atomicCAS(lock, 0u, 1u) != 0) {
  }
  const int before = *static_cast<volatile int*>(value);
  __threadfence();
  *value = before + 1;
  atomicExch(lock, 0u);
}

TEST(Engine, ASpinLockExcludes) {
  for (std::uint64_t seed : kSeeds) {
    auto device = host_device(seed);
    Buffer<unsigned> lock(*device, 1);
    Buffer<int> value(*device, 1);
    zero(*device, lock);
    zero(*device, value);
    ASSERT_TRUE(launch(*device, 0, "locked", locked, {{3}, {128}}, lock.data(), value.data()));
    ASSERT_TRUE(device->synchronize());
    EXPECT_EQ(*value.data(), 3 * 128) << seed;
  }
}

// Lost updates, which atomics prevent. Some seed must show them.
__global__ void lost_update(int* value) {
  const int before = *static_cast<volatile int*>(value);
  __threadfence();
  *static_cast<volatile int*>(value) = before + 1;
}

TEST(Engine, SeedsPreemptAtFences) {
  bool lost = false;
  for (std::uint64_t seed : kSeeds) {
    auto device = host_device(seed);
    Buffer<int> value(*device, 1);
    zero(*device, value);
    ASSERT_TRUE(launch(*device, 0, "lost_update", lost_update, {{4}, {256}}, value.data()));
    ASSERT_TRUE(device->synchronize());
    if (seed == 0) {
      EXPECT_EQ(*value.data(), 1024);
    }
    lost = lost || *value.data() < 1024;
  }
  EXPECT_TRUE(lost);
}

__global__ void ticks(long long* out) {
  const long long start = clock64();
  while (clock64() - start < 10000) {
  }
  out[threadIdx.x] = clock64() - start;
}

TEST(Engine, ADelayByTheClockEnds) {
  auto device = host_device();
  Buffer<long long> out(*device, 64);
  ASSERT_TRUE(launch(*device, 0, "ticks", ticks, {{1}, {64}}, out.data()));
  ASSERT_TRUE(device->synchronize());
  for (long long v : read(*device, out)) EXPECT_GE(v, 10000);
}

__global__ void divergent(int* out) {
  if (threadIdx.x < 16)
    __syncthreads();
  else
    out[threadIdx.x] = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x), 0);
}

// Waits forever below many stack frames.
__device__ int __attribute__((noinline)) wait_below(int depth) {
  volatile char frame[24] = {};
  frame[depth] = 1;
  if (depth == 0)
    __syncthreads();
  else
    frame[0] = static_cast<char>(wait_below(depth - 1));
  return frame[depth];
}
__global__ void abandoned(int* out) {
  if (threadIdx.x == 0)
    *out = wait_below(16);
  else
    (void)__shfl_sync(0xffffffffu, 0, 0);
}
// Like library code compiled without AddressSanitizer, which intercepts memset() anyway.
__device__ int __attribute__((noinline, no_sanitize("address"))) filled(std::size_t bytes) {
  unsigned char local[8192];
  std::memset(local, 1, bytes);
  int sum = 0;
  for (std::size_t i = 0; i < bytes; ++i) sum += local[i];
  return sum;
}
__global__ void fill_stack(int* out, int bytes) {
  out[threadIdx.x] = filled(static_cast<std::size_t>(bytes));
}

// As much as CUDA allows.
__global__ void uses_local_memory(int* out) {
  volatile unsigned char local[512 * 1024];
  for (std::size_t i = 0; i < sizeof local; i += 1024) local[i] = 1;
  int sum = 0;
  for (std::size_t i = 0; i < sizeof local; i += 1024) sum += local[i];
  out[threadIdx.x] = sum;
}

TEST(Engine, AThreadHasTheLocalMemoryOfCuda) {
  auto device = host_device();
  Buffer<int> out(*device, 32);
  ASSERT_TRUE(launch(*device, 0, "uses_local_memory", uses_local_memory, {{1}, {32}}, out.data()));
  ASSERT_TRUE(device->synchronize());
  for (const int sum : read(*device, out)) EXPECT_EQ(sum, 512);
}

TEST(Engine, StacksOfAbandonedThreadsAreUsedAgain) {
  auto device = host_device();
  Buffer<int> out(*device, 32);
  ASSERT_TRUE(launch(*device, 0, "abandoned", abandoned, {{1}, {32}}, out.data()));
  const auto done = device->synchronize();
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, "deadlock");
  ASSERT_TRUE(device->begin_trial({}).has_value());
  ASSERT_TRUE(launch(*device, 0, "fill_stack", fill_stack, {{1}, {32}}, out.data(), 8192));
  ASSERT_TRUE(device->synchronize());
  for (const int sum : read(*device, out)) EXPECT_EQ(sum, 8192);
}

TEST(Engine, ADeadlockIsAFaultThatSaysWhoWaitsWhere) {
  auto device = host_device();
  Buffer<int> out(*device, 32);
  BlackBox box;
  device->set_black_box(&box);
  device->set_call(7);
  ASSERT_TRUE(launch(*device, 0, "divergent", divergent, {{2}, {32}}, out.data()));
  const auto done = device->synchronize();
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().kind, Failure::Kind::fault);
  EXPECT_EQ(done.error().code, "deadlock");
  EXPECT_NE(done.error().detail.find("16 wait at __syncthreads"), std::string::npos)
      << done.error().detail;
  EXPECT_NE(done.error().detail.find("16 wait in a warp operation"), std::string::npos)
      << done.error().detail;
  EXPECT_STREQ(box.kernel, "divergent");
  EXPECT_EQ(box.call_running, 7);
  EXPECT_FALSE(device->synchronize().has_value()) << "the trial is lost";

  // The next trial is not affected.
  ASSERT_TRUE(device->begin_trial({}).has_value());
  ASSERT_TRUE(launch(*device, 0, "rotate", rotate, {{1}, {32}, 128}, out.data(), out.data()));
  ASSERT_TRUE(device->synchronize());
  EXPECT_STREQ(box.kernel, "");
  EXPECT_EQ(box.call_running, -1);
}

TEST(Engine, SteadyStateLaunchesMapNothing) {
  auto device = host_device();
  Buffer<int> x(*device, 100), y(*device, 100);
  std::uint64_t calls = 0;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(device->begin_trial({}).has_value());
    ASSERT_TRUE(launch(*device, 0, "rotate", rotate, {{3}, {100}, 400}, x.data(), y.data()));
    ASSERT_TRUE(device->synchronize());
    if (i == 0) calls = device->memory(Allocator::guard).mapping_calls();
  }
  EXPECT_EQ(device->memory(Allocator::guard).mapping_calls(), calls);
}

}  // namespace
}  // namespace redzone::device
