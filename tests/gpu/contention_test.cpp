// Trials beside work that keeps the device busy.
#include "core/contention.h"

#include "gpu/gpu_fixture.h"
#include "gpu/kernels.h"

namespace redzone::gpu_test {
namespace {

class GpuContention : public GpuTest {
 protected:
  void begin_contended(Launch launch) {
    ASSERT_TRUE(ok(device().begin_trial({.launch = launch, .schedule_seed = kContendedSeed})));
  }
};

TEST_F(GpuContention, LeavesResultsAsTheyAre) {
  const device::Region region = acquire(sizeof(std::uint32_t));
  for (const auto mode : {Launch::blocking, Launch::async, Launch::gated, Launch::async}) {
    begin_contended(mode);
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

// All blocks must be resident at once, and together they fill the device.
TEST_F(GpuContention, LetsAKernelThatNeedsTheWholeDeviceEnd) {
  const device::Region region = acquire(sizeof(std::uint32_t));
  begin_contended(Launch::async);
  ASSERT_TRUE(ok(device().memset(0, region.base, 0, sizeof(std::uint32_t))));
  const std::int64_t blocks = 2 * device().info().multiprocessors;
  ASSERT_TRUE(ok(launch(device(), 0, meet_kernel(), {{blocks}, {1024}}, region.base)));
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(read_value<std::uint32_t>(region.base), blocks);
}

}  // namespace
}  // namespace redzone::gpu_test
