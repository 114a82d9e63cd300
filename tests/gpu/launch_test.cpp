// Launches and refused launches.
#include "gpu/gpu_fixture.h"
#include "gpu/kernels.h"

namespace redzone::gpu_test {
namespace {

using Kind = device::Failure::Kind;

class GpuLaunch : public GpuTest {
 protected:
  std::uint32_t* words() { return reinterpret_cast<std::uint32_t*>(acquire(256).base); }
};

TEST_F(GpuLaunch, GeometryOverTheLimitsIsRefused) {
  std::uint32_t* counter = words();
  const LaunchLimits limits = device().info().limits;
  const LaunchShape shapes[] = {
      {{0, 1, 1}, {}, 0},
      {{-1, 1, 1}, {}, 0},
      {{limits.grid[0] + 1, 1, 1}, {}, 0},
      {{std::int64_t{1} << 32, 1, 1}, {}, 0},
      {{1, limits.grid[1] + 1, 1}, {}, 0},
      {{1, 1, limits.grid[2] + 1}, {}, 0},
      {{}, {limits.block[0] + 1, 1, 1}, 0},
      {{}, {limits.threads_per_block, 2, 1}, 0},
      {{}, {1, 1, limits.block[2] + 1}, 0},
      {{}, {}, static_cast<std::size_t>(limits.shared_bytes) + 1},
  };
  for (const LaunchShape& shape : shapes) {
    auto refused = launch(device(), 0, count_kernel(), shape, counter);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Kind::launch_refused) << describe(refused.error());
    EXPECT_EQ(refused.error().code, "invalid-launch");
  }
  EXPECT_TRUE(ok(launch(device(), 0, count_kernel(), {{3, 2, 1}, {32, 1, 1}, 0}, counter)));
  EXPECT_TRUE(ok(device().synchronize()));
}

TEST_F(GpuLaunch, ArgumentsMustMatchTheKernel) {
  std::uint32_t* counter = words();
  for (const auto& refused : {launch(device(), 0, count_kernel(), kOneThread),
                              launch(device(), 0, count_kernel(), kOneThread, counter, counter),
                              launch(device(), 0, count_kernel(), kOneThread, 1)}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Kind::launch_refused) << describe(refused.error());
    EXPECT_EQ(refused.error().code, "invalid-arguments");
  }
  EXPECT_TRUE(ok(device().synchronize()));
}

TEST_F(GpuLaunch, KernelWithoutFunctionIsAHarnessFailure) {
  KernelRef ghost;
  ghost.name = "ghost";
  auto failed = launch(device(), 0, ghost, kOneThread);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, Kind::harness);
  EXPECT_NE(failed.error().detail.find("ghost"), std::string::npos);
}

TEST_F(GpuLaunch, DynamicSharedMemoryUpToTheLimit) {
  std::uint32_t* sum = words();
  const auto most = static_cast<std::uint32_t>(device().info().limits.shared_bytes);
  for (std::uint32_t bytes : {1024u, 48u * 1024, 48u * 1024 + 16, most, 1024u}) {
    ASSERT_TRUE(ok(launch(device(), 0, shared_sum_kernel(), {{}, {128, 1, 1}, bytes}, sum, bytes)));
    ASSERT_TRUE(ok(device().synchronize()));
    EXPECT_EQ(read_value<std::uint32_t>(sum), bytes);
  }
}

TEST_F(GpuLaunch, BlackBoxNamesCallAndKernel) {
  device::BlackBox box;
  device().set_black_box(&box);
  std::uint32_t* counter = words();
  device().set_call(7);
  EXPECT_TRUE(ok(launch(device(), 0, count_kernel(), kOneThread, counter)));
  EXPECT_EQ(box.call_begun, 7);
  EXPECT_STREQ(box.kernel, "count");
  EXPECT_TRUE(ok(launch(device(), 0, copy_word_kernel(), kOneThread,
                        static_cast<const std::uint32_t*>(counter), counter + 1)));
  EXPECT_STREQ(box.kernel, "copy_word");
  device().set_black_box(nullptr);
}

TEST_F(GpuLaunch, WaitOrdersStreams) {
  std::uint32_t* word = words();
  begin(Launch::async, 2);
  constexpr std::uint32_t kRounds = 20;
  for (std::uint32_t round = 1; round <= kRounds; ++round) {
    ASSERT_TRUE(ok(device().wait(1, 0)));  // not before the copy of the previous round
    ASSERT_TRUE(ok(launch(device(), 1, delayed_store_kernel(), kOneThread, word, round,
                          std::int64_t{200000})));
    ASSERT_TRUE(ok(device().wait(0, 1)));
    ASSERT_TRUE(ok(launch(device(), 0, copy_word_kernel(), kOneThread,
                          static_cast<const std::uint32_t*>(word), word + round)));
  }
  ASSERT_TRUE(ok(device().synchronize()));
  for (std::uint32_t round = 1; round <= kRounds; ++round)
    EXPECT_EQ(read_value<std::uint32_t>(word + round), round);
}

}  // namespace
}  // namespace redzone::gpu_test
