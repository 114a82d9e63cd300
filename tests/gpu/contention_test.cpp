// Trials beside work that keeps the device busy.
#include "core/contention.h"

#include <chrono>

#include "gpu/gpu_fixture.h"
#include "gpu/kernels.h"

namespace redzone::gpu_test {
namespace {

class GpuContention : public GpuTest {
 protected:
  bool begin_contended(Launch launch) {
    return ok(device().begin_trial({.launch = launch, .schedule_seed = kContendedSeed}));
  }
};

TEST_F(GpuContention, LeavesResultsAsTheyAre) {
  const device::Region region = acquire(sizeof(std::uint32_t));
  for (const auto mode : {Launch::blocking, Launch::async, Launch::gated, Launch::async}) {
    ASSERT_TRUE(begin_contended(mode));
    ASSERT_TRUE(ok(device().memset(0, region.base, 0, sizeof(std::uint32_t))));
    if (mode == Launch::gated) {
      ASSERT_TRUE(ok(device().hold()));
    }
    for (int i = 0; i < 100; ++i)
      ASSERT_TRUE(ok(launch(device(), 0, count_kernel(), kOneThread, region.base)));
    ASSERT_TRUE(ok(device().synchronize()));
    EXPECT_EQ(read_value<std::uint32_t>(region.base), 100u);
  }
}

// The trial waits for the whole context, and so for the kernel, of which each block runs for 0.3
// ms. What the trial itself launches takes a tenth of that.
TEST_F(GpuContention, RunsAKernelBesideTheTrial) {
  const device::Region region = acquire(sizeof(std::uint32_t));
  for (const auto mode : {Launch::async, Launch::gated}) {
    for (int i = 0; i < 3; ++i) {  // the first also loads the kernels
      ASSERT_TRUE(begin_contended(mode));
      if (mode == Launch::gated) {
        ASSERT_TRUE(ok(device().hold()));
      }
      const auto begun = std::chrono::steady_clock::now();
      ASSERT_TRUE(ok(launch(device(), 0, count_kernel(), kOneThread, region.base)));
      ASSERT_TRUE(ok(device().synchronize()));
      EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::microseconds(200));
    }
  }
}

// All blocks must be resident at once, one on each multiprocessor, and wait for each other.
TEST_F(GpuContention, LetsAKernelThatNeedsTheWholeDeviceEnd) {
  const device::Region region = acquire(sizeof(std::uint32_t));
  ASSERT_TRUE(begin_contended(Launch::async));
  ASSERT_TRUE(ok(device().memset(0, region.base, 0, sizeof(std::uint32_t))));
  const std::int64_t blocks = device().info().multiprocessors;
  ASSERT_TRUE(ok(launch(device(), 0, meet_kernel(), {{blocks}, {1024}}, region.base)));
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(read_value<std::uint32_t>(region.base), blocks);
}

}  // namespace
}  // namespace redzone::gpu_test
