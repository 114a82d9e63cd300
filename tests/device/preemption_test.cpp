// What seeds show because warps and blocks starve, and that what waits for them ends all the same.
#include "device/host/preemption.h"

#include <gtest/gtest.h>
#include <redzone/kernel.h>

#include <bit>
#include <numeric>
#include <set>

#include "tests/device/on_device.h"

namespace redzone::device {
namespace {

using namespace testing;

constexpr std::uint64_t kManySeeds = 96;

TEST(Preemption, TheNaturalOrderDrawsNothing) {
  Rng rng(0);
  const Preemption natural = Preemption::drawn(rng);
  EXPECT_EQ(natural.quantum, kNaturalQuantum);
  EXPECT_EQ(natural.one_in_waiting, 0u);
  EXPECT_EQ(natural.starved_rounds, 0u);
  AsideOrder order(rng);
  for (std::size_t n = 1; n < 5; ++n) EXPECT_EQ(order.next(n, false, rng), 0u);
}

TEST(Preemption, SomeGridsStarveNoWarpAndOthersForLong) {
  std::set<unsigned> rounds;
  std::set<std::uint64_t> waiting;
  for (std::uint64_t seed = 1; seed < kManySeeds; ++seed) {
    Rng rng(seed);
    const Preemption drawn = Preemption::drawn(rng);
    rounds.insert(drawn.starved_rounds);
    waiting.insert(drawn.one_in_waiting);
  }
  EXPECT_EQ(rounds, (std::set<unsigned>{0, 16, 256}));
  EXPECT_EQ(waiting, (std::set<std::uint64_t>{0, 16, 64}));
}

TEST(Preemption, OneWarpStarvesOrOneIsFedOrAnyButNeverAll) {
  for (unsigned warps = 1; warps <= 32; ++warps) {
    std::set<int> counts;
    Rng rng(warps);
    for (int i = 0; i < 200; ++i) {
      const std::uint32_t starved = draw_starved_warps(warps, rng);
      EXPECT_LT(std::bit_width(starved), static_cast<int>(warps) + 1);
      EXPECT_LT(std::popcount(starved), static_cast<int>(warps));
      counts.insert(std::popcount(starved));
    }
    EXPECT_TRUE(counts.contains(warps == 1 ? 0 : 1));
    EXPECT_TRUE(counts.contains(static_cast<int>(warps) - 1));
  }
}

// The newest block may run ahead, but each of `n` blocks has its turn in the end.
TEST(Preemption, NoBlockStarvesForever) {
  for (std::uint64_t seed = 0; seed < kManySeeds; ++seed)
    for (const bool waits : {false, true}) {
      Rng rng(seed);
      AsideOrder order(rng);
      std::vector<int> aside(5);
      std::iota(aside.begin(), aside.end(), 0);
      std::set<int> had_a_turn;
      for (int turn = 0; turn < 300; ++turn) {
        const std::size_t i = order.next(aside.size(), waits, rng);
        ASSERT_LT(i, aside.size());
        const int block = aside[i];
        had_a_turn.insert(block);
        aside.erase(aside.begin() + static_cast<std::ptrdiff_t>(i));
        aside.push_back(block);
      }
      EXPECT_EQ(had_a_turn.size(), 5u) << seed << waits;
    }
}

__device__ int warp_total(int v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
  return v;
}
// The sum over the block. `partial` has an element for each warp.
template <bool kGuarded>
__device__ int block_total(int v, int* partial) {
  v = warp_total(v);
  if (kGuarded) __syncthreads();  // some warps may still read what another reduction has left
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  return warp_total(threadIdx.x % 32 < blockDim.x / 32 ? partial[threadIdx.x % 32] : 0);
}
template <bool kGuarded>
__global__ void two_totals(int* out) {
  __shared__ int partial[32];
  const int first = block_total<kGuarded>(1, partial);
  const int second = block_total<kGuarded>(100, partial);
  out[threadIdx.x] = first + second;
}

// How many seeds give a wrong result of `threads` threads.
int wrong_totals(void (*kernel)(int*), int threads) {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < kManySeeds; ++seed) {
    auto device = host_device(seed);
    Buffer<int> out(*device, threads);
    EXPECT_TRUE(launch(*device, 0, "two_totals", kernel, {{1}, {threads}}, out.data()));
    EXPECT_TRUE(device->synchronize());
    const bool good = read(*device, out) == std::vector<int>(threads, 101 * threads);
    if (seed == 0) {
      EXPECT_TRUE(good);
    }
    wrong += good ? 0 : 1;
  }
  return wrong;
}

// Between reading and writing `partial` lie ten warp operations, so a warp must get that far ahead.
TEST(Preemption, SeedsShowSharedMemoryThatIsUsedAgainBehindWarpOperations) {
  for (const int threads : {64, 256, 1024}) {
    EXPECT_GT(wrong_totals(two_totals<false>, threads), static_cast<int>(kManySeeds / 4));
    EXPECT_EQ(wrong_totals(two_totals<true>, threads), 0);
  }
}

// A lost update between blocks which meet only barriers, or only warp operations.
template <bool kBarrier>
__global__ void lost_between(int* value) {
  const int before = *static_cast<volatile int*>(value);
  for (int i = 0; i < 8; ++i)
    if (kBarrier)
      __syncthreads();
    else
      __syncwarp();
  if (threadIdx.x == 0) *static_cast<volatile int*>(value) = before + 1;
}

TEST(Preemption, SeedsPreemptBlocksAtBarriersAndInWarpOperations) {
  for (const auto kernel : {lost_between<true>, lost_between<false>}) {
    int lost = 0;
    for (std::uint64_t seed = 0; seed < kManySeeds; ++seed) {
      auto device = host_device(seed);
      Buffer<int> value(*device, 1);
      zero(*device, value);
      ASSERT_TRUE(launch(*device, 0, "lost_between", kernel, {{8}, {64}}, value.data()));
      ASSERT_TRUE(device->synchronize());
      if (seed == 0) {
        EXPECT_EQ(*value.data(), 8);
      }
      lost += *value.data() < 8 ? 1 : 0;
    }
    EXPECT_GT(lost, static_cast<int>(kManySeeds / 8));
  }
}

// Each warp spins until the one before it has passed, and each block until the block before it has:
// in most draws those that starve are waited for.
__global__ void chained_warps(unsigned* passed, unsigned* order) {
  const unsigned warps = blockDim.x / 32, warp = blockIdx.x * warps + threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) {
    while (atomicAdd(passed, 0u) != warp) {
    }
    order[warp] = *static_cast<volatile unsigned*>(passed);
    atomicAdd(passed, 1u);
  }
  __syncwarp();
  (void)warp_total(1);
  __syncthreads();
}

TEST(Preemption, WhatWaitsForStarvedWarpsAndBlocksEnds) {
  constexpr unsigned kWarps = 40 * 8;
  std::vector<unsigned> in_order(kWarps);
  std::iota(in_order.begin(), in_order.end(), 0u);
  for (std::uint64_t seed = 0; seed < kManySeeds; seed += 4) {
    auto device = host_device(seed);
    Buffer<unsigned> passed(*device, 1), order(*device, kWarps);
    zero(*device, passed);
    ASSERT_TRUE(launch(*device, 0, "chained_warps", chained_warps, {{40}, {256}}, passed.data(),
                       order.data()));
    ASSERT_TRUE(device->synchronize());
    ASSERT_EQ(read(*device, order), in_order) << seed;
  }
}

// Blocks of a cooperative grid that fill all stacks: a block whose starved threads had not started
// must not be set aside for others that take their stacks.
__global__ void full_grid(unsigned* arrived) {
  (void)warp_total(1);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (*static_cast<volatile unsigned*>(arrived) < gridDim.x) __nanosleep(100);
  }
  __syncthreads();
}

TEST(Preemption, AGridThatTakesAllStacksEnds) {
  for (std::uint64_t seed = 0; seed < kManySeeds; seed += 4) {
    auto device = host_device(seed);
    Buffer<unsigned> arrived(*device, 1);
    zero(*device, arrived);
    ASSERT_TRUE(launch(*device, 0, "full_grid", full_grid, {{16}, {1024}}, arrived.data()));
    ASSERT_TRUE(device->synchronize());
    EXPECT_EQ(*arrived.data(), 16u) << seed;
  }
}

}  // namespace
}  // namespace redzone::device
