// Warp operations.
#include <gtest/gtest.h>
#include <redzone/kernel.h>

#include "tests/device/on_device.h"

namespace redzone::device {
namespace {

using testing::Buffer;
using testing::host_device;
using testing::launch;
using testing::read;

constexpr std::uint64_t kSeeds[] = {0, 1, 2, 3, 4, 5};

// Runs `kernel` on one block and returns what each thread wrote.
template <class T>
std::vector<T> run(void (*kernel)(T*), int threads, std::uint64_t seed) {
  auto device = host_device(seed);
  Buffer<T> out(*device, threads);
  EXPECT_TRUE(launch(*device, 0, "kernel", kernel, {{1}, {threads}}, out.data()));
  EXPECT_TRUE(device->synchronize());
  return read(*device, out);
}

__global__ void warp_sums(int* out) {
  int v = static_cast<int>(threadIdx.x);
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
  out[threadIdx.x] = __shfl_sync(0xffffffffu, v, 0);
}

__global__ void warp_sums_xor(double* out) {
  double v = threadIdx.x;
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
  out[threadIdx.x] = v;
}

TEST(Warp, Reductions) {
  for (std::uint64_t seed : kSeeds) {
    const auto sums = run(warp_sums, 128, seed);
    const auto sums_xor = run(warp_sums_xor, 128, seed);
    for (int t = 0; t < 128; ++t) {
      EXPECT_EQ(sums[t], 496 + t / 32 * 1024) << seed;
      EXPECT_EQ(sums_xor[t], 496 + t / 32 * 1024) << seed;
    }
  }
}

__global__ void scan_of_eight(int* out) {
  int v = 1;
  const int within = static_cast<int>(threadIdx.x % 8);
  for (unsigned step = 1; step < 8; step *= 2) {
    const int up = __shfl_up_sync(0xffffffffu, v, step, 8);
    if (within >= static_cast<int>(step)) v += up;
  }
  out[threadIdx.x] = v;
}

TEST(Warp, SegmentsAreSeparate) {
  for (std::uint64_t seed : kSeeds) {
    const auto scan = run(scan_of_eight, 64, seed);
    for (int t = 0; t < 64; ++t) EXPECT_EQ(scan[t], t % 8 + 1);
  }
}

__global__ void edges(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  const int down = __shfl_down_sync(0xffffffffu, lane, 8, 16);
  const int up = __shfl_up_sync(0xffffffffu, lane, 8, 16);
  const int wrapped = __shfl_sync(0xffffffffu, lane, 17, 16);
  out[lane] = down + 100 * up + 10000 * wrapped;
}

TEST(Warp, LanesOutsideTheSegmentKeepTheirValue) {
  const auto values = run(edges, 32, 3);
  for (int t = 0; t < 32; ++t) {
    const int within = t % 16;
    const int down = within + 8 < 16 ? t + 8 : t, up = within >= 8 ? t - 8 : t;
    EXPECT_EQ(values[t], down + 100 * up + 10000 * (t / 16 * 16 + 1)) << t;
  }
}

__global__ void votes(unsigned* out) {
  const unsigned odd = __ballot_sync(0xffffffffu, threadIdx.x % 2 == 1);
  const unsigned any = __any_sync(0xffffffffu, threadIdx.x == 5);
  const unsigned all = __all_sync(0xffffffffu, threadIdx.x < 32);
  out[threadIdx.x] = odd ^ (any | all << 1);
}

TEST(Warp, Votes) {
  for (std::uint64_t seed : kSeeds) {
    const auto values = run(votes, 64, seed);
    for (int t = 0; t < 64; ++t) EXPECT_EQ(values[t], 0xaaaaaaaau ^ (t < 32 ? 3u : 0u)) << t;
  }
}

// Some lanes of a partial warp exit first.
__global__ void partial(unsigned* out) {
  if (threadIdx.x % 4 == 3) {
    out[threadIdx.x] = 0;
    return;
  }
  out[threadIdx.x] = __ballot_sync(0xffffffffu, 1);
}

TEST(Warp, AbsentAndExitedLanesDoNotCount) {
  for (std::uint64_t seed : kSeeds) {
    const auto values = run(partial, 40, seed);
    for (int t = 0; t < 40; ++t) {
      const unsigned all = t < 32 ? 0x77777777u : 0x77u;
      EXPECT_EQ(values[t], t % 4 == 3 ? 0u : all) << t << " " << seed;
    }
  }
}

// The two halves of a warp diverge and loop a different number of times.
__global__ void diverging_halves(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  const bool low = lane < 16;
  const unsigned mask = low ? 0x0000ffffu : 0xffff0000u;
  int v = lane;
  for (int i = 0; i < (low ? 3 : 10); ++i)
    v = __shfl_sync(mask, v, (lane + 1) % 16 + (low ? 0 : 16));
  __syncwarp();
  out[lane] = v;
}

TEST(Warp, GroupsOfLanesAreIndependent) {
  for (std::uint64_t seed : kSeeds) {
    const auto values = run(diverging_halves, 32, seed);
    for (int t = 0; t < 32; ++t)
      EXPECT_EQ(values[t], t < 16 ? (t + 3) % 16 : 16 + (t + 10) % 16) << seed;
  }
}

// Without __syncwarp the exchange through memory is a race, which some seeds show.
__global__ void unsynchronized(int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = tile[(threadIdx.x + 1) % 32];
}
__global__ void synchronized(int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncwarp();
  out[threadIdx.x] = tile[(threadIdx.x + 1) % 32];
}

TEST(Warp, ImplicitLockstepIsNotAssumed) {
  bool differs = false;
  for (std::uint64_t seed : kSeeds) {
    const auto good = run(synchronized, 32, seed);
    for (int t = 0; t < 32; ++t) EXPECT_EQ(good[t], (t + 1) % 32);
    differs = differs || run(unsynchronized, 32, seed) != good;
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace redzone::device
