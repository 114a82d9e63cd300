// Barriers in shared memory (mbarrier) on the host device: phases, and deadlocks at them.
#include <gtest/gtest.h>
#include <redzone/bulk_copy.h>

#include "tests/device/on_device.h"

namespace redzone::device::testing {
namespace {

constexpr std::uint64_t kManySeeds = 48;

// The parity of the phase that has ended before is what a kernel waits for that counts its phases
// wrongly: the wait returns at once, whether the copy has arrived or not.
__global__ void wait_for_earlier_phase(const __grid_constant__ TensorMap map, int* seen) {
  __shared__ Barrier barrier;
  __shared__ __align__(128) int tile[32];
  barrier_init(barrier, 1);
  barrier_arrive(barrier);
  tile[0] = -1;
  barrier_expect(barrier, sizeof tile);
  copy_tile(tile, map, barrier, 0);
  barrier_wait(barrier, 0);
  seen[0] = tile[0];
  barrier_wait(barrier, 1);
  seen[1] = tile[0];
}

TEST(Barrier, AnEndedPhaseIsNotWaitedFor) {
  auto device = host_device();
  Buffer<int> x(*device, 32), seen(*device, 2);
  for (int i = 0; i < 32; ++i) x.data()[i] = 7 + i;
  tma::Descriptor d;
  d.type = tma::DataType::i32;
  d.address = reinterpret_cast<std::uintptr_t>(x.data());
  d.dims[0] = 32;
  d.box[0] = 32;
  d.rank = 1;
  TensorMap map;
  ASSERT_EQ(device->encode(d, map), 0);
  ASSERT_TRUE(launch(*device, 0, "wait_for_earlier_phase", wait_for_earlier_phase, {{1}, {1}}, map,
                     seen.data()));
  ASSERT_TRUE(device->synchronize());
  EXPECT_EQ(read(*device, seen), (std::vector<int>{-1, 7}));
}

// The first warp waits for one arrival more than the others make.
__global__ void one_arrival_short(int arrivals) {
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) barrier_init(barrier, 64);
  __syncthreads();
  if (static_cast<int>(threadIdx.x) < arrivals) barrier_arrive(barrier);
  if (threadIdx.x < 32) barrier_wait(barrier, 0);
  __syncthreads();
}

TEST(Barrier, APhaseThatCannotEndIsADeadlock) {
  for (std::uint64_t seed = 0; seed < kManySeeds; ++seed) {
    auto device = host_device(seed);
    ASSERT_TRUE(launch(*device, 0, "one_arrival_short", one_arrival_short, {{2}, {64}}, 64));
    ASSERT_TRUE(device->synchronize()) << seed;
    (void)launch(*device, 0, "one_arrival_short", one_arrival_short, {{2}, {64}}, 63);
    const auto done = device->synchronize();
    ASSERT_FALSE(done) << seed;
    EXPECT_EQ(done.error().code, "deadlock");
    EXPECT_NE(done.error().detail.find("32 wait at __syncthreads; 32 wait at barriers in shared "
                                       "memory"),
              std::string::npos)
        << done.error().detail;
  }
}

// Two warps that hand each other turns: between two waits each makes progress only by arrivals.
__global__ void take_turns(int rounds, int* turns) {
  __shared__ Barrier barriers[2];
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) barrier_init(barriers[warp], 32);
  __syncthreads();
  if (warp == 0) barrier_arrive(barriers[1]);
  for (int i = 0; i < rounds; ++i) {
    barrier_wait(barriers[warp], static_cast<unsigned>(i % 2));
    if (threadIdx.x % 32 == 0) ++*turns;
    barrier_arrive(barriers[1 - warp]);
  }
}

TEST(Barrier, TurnsAreNoDeadlock) {
  constexpr int kRounds = 60;
  for (std::uint64_t seed = 0; seed < kManySeeds; ++seed) {
    auto device = host_device(seed);
    Buffer<int> turns(*device, 1);
    zero(*device, turns);
    ASSERT_TRUE(launch(*device, 0, "take_turns", take_turns, {{2}, {64}}, kRounds, turns.data()));
    ASSERT_TRUE(device->synchronize()) << seed;
    EXPECT_EQ(*turns.data(), 2 * 2 * kRounds);
  }
}

}  // namespace
}  // namespace redzone::device::testing
