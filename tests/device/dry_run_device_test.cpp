// The device that runs nothing: what it refuses, and what it does not do.
#include "device/dry_run/dry_run_device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace redzone::device {
namespace {

class DryRunDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(device_.begin_trial({Launch::gated, 0, 1})); }

  Status<void> launch(const LaunchShape& shape) {
    // Never called: it is no function.
    return device_.launch(0, {.name = "k", .function = &device_}, shape, {});
  }

  DryRunDevice device_;
};

TEST_F(DryRunDeviceTest, KnowsItself) {
  EXPECT_EQ(device_.info().kind, DeviceKind::dry_run);
  static_assert(DeviceKind::none == DeviceKind::dry_run, "the name in older sources");
  EXPECT_EQ(device_.info().name, "dry-run");
}

TEST_F(DryRunDeviceTest, RegionsNeverOverlapInATrial) {
  std::byte* end = nullptr;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{5000},
                                  std::size_t{1} << 40, std::size_t{1}}) {
    const auto region = device_.memory(Allocator::guard).acquire(bytes);
    ASSERT_TRUE(region) << region.error().detail;
    EXPECT_GE(region->bytes, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region->base) % 4096, 0u);
    if (end != nullptr) {
      EXPECT_GT(region->base, end) << "something is between them";
    }
    end = region->base + region->bytes;
    device_.memory(Allocator::guard).release(*region);
  }
}

TEST_F(DryRunDeviceTest, EveryTrialHasAllAddresses) {
  const auto first = device_.ordered_memory(Allocator::pool).acquire(1 << 20, 0);
  ASSERT_TRUE(device_.begin_trial({}));
  const auto again = device_.memory(Allocator::plain).acquire(1 << 20);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->base, again->base);
}

TEST_F(DryRunDeviceTest, AddressesEnd) {
  Status<Region> region;
  int regions = 0;
  do {
    region = device_.memory(Allocator::guard).acquire(std::size_t{1} << 40);
  } while (region && ++regions < 1000);
  ASSERT_FALSE(region);
  EXPECT_EQ(region.error().kind, Failure::Kind::out_of_memory);
  EXPECT_FALSE(device_.memory(Allocator::guard).acquire(~std::size_t{0}));
}

TEST_F(DryRunDeviceTest, BuffersHaveNoMemory) {
  const auto region = device_.memory(Allocator::guard).acquire(64);
  ASSERT_TRUE(region);
  EXPECT_DEATH(std::memset(region->base, 1, 1), "");
}

TEST_F(DryRunDeviceTest, HostMemoryIsReal) {
  const auto region = device_.pinned_memory().acquire(4096);
  ASSERT_TRUE(region);
  std::memset(region->base, 7, 4096);
  EXPECT_EQ(region->base[4095], std::byte{7});
}

TEST_F(DryRunDeviceTest, LaunchesAreHeldAgainstTheLimits) {
  EXPECT_TRUE(launch({{2147483647, 65535, 65535}, {1024, 1, 1}, 232448}));
  for (const LaunchShape& bad : {LaunchShape{{0}, {1}}, LaunchShape{{1, 65536}, {1}},
                                 LaunchShape{{1}, {1025}}, LaunchShape{{1}, {1}, 232449}}) {
    const auto refused = launch(bad);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Failure::Kind::launch_refused);
    EXPECT_EQ(refused.error().code, "invalid-launch");
  }
}

TEST_F(DryRunDeviceTest, NothingIsCompiled) {
  VariantRequest request;
  request.name = "k";
  request.source = "this is no C++";
  const auto kernel = device_.variant(request);
  ASSERT_TRUE(kernel);
  EXPECT_STREQ(kernel->name, "k");
}

TEST_F(DryRunDeviceTest, CopiesNeedMemoryOfTheDevice) {
  const auto region = device_.memory(Allocator::guard).acquire(4096);
  const auto host = device_.pinned_memory().acquire(4096);
  ASSERT_TRUE(region && host);
  EXPECT_TRUE(device_.copy(0, host->base, region->base, 4096));
  EXPECT_TRUE(device_.copy(0, region->base, host->base, 4096));
  int pageable = 0;
  const auto refused = device_.copy(0, &pageable, region->base, sizeof pageable);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "target-error");
  EXPECT_TRUE(device_.memset(0, region->base, 1, 4096));
  EXPECT_FALSE(device_.memset(0, &pageable, 1, sizeof pageable));
}

TEST_F(DryRunDeviceTest, ChecksFindNothing) {
  BufferJob job = {};
  BufferCheck result;
  std::memset(&result, 0x55, sizeof result);
  ASSERT_TRUE(device_.fill(0, {&job, 1}));
  ASSERT_TRUE(device_.check(0, {&job, 1}, &result));
  EXPECT_EQ(result.dirty_before + result.dirty_after + result.dirty_gaps + result.changed, 0u);
}

TEST_F(DryRunDeviceTest, GraphsAreNumbered) {
  ASSERT_TRUE(device_.begin_capture(0));
  const auto graph = device_.end_capture(0);
  ASSERT_TRUE(graph);
  EXPECT_TRUE(device_.launch_graph(0, *graph));
  EXPECT_NE(device_.stream_handle(0), nullptr);
  EXPECT_NE(device_.stream_handle(0), device_.stream_handle(1));
}

}  // namespace
}  // namespace redzone::device
