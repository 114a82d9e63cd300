// The guard arena and the plain allocator.
#include <thread>

#include "gpu/gpu_fixture.h"
#include "gpu/kernels.h"

namespace redzone::gpu_test {
namespace {

class GpuMemory : public GpuTest {};

TEST_F(GpuMemory, RegionsAreWholeGranules) {
  const auto granule = device().info().granularity_bytes;
  ASSERT_GT(granule, 0u);
  const device::Region region = acquire(granule + 1);
  EXPECT_EQ(region.bytes, 2 * granule);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.base) % granule, 0u);
}

TEST_F(GpuMemory, SteadyStateMakesNoMappingCall) {
  for (Allocator allocator : {Allocator::guard, Allocator::plain}) {
    device::Memory& memory = device().memory(allocator);
    const auto round = [&] {
      std::vector<device::Region> regions;
      for (std::size_t bytes : {1, 3 << 20, 5000, 3 << 20}) {
        auto region = memory.acquire(bytes);
        ASSERT_TRUE(ok(region));
        regions.push_back(*region);
      }
      for (const device::Region& region : regions) memory.release(region);
    };
    round();
    const std::uint64_t calls = memory.mapping_calls();
    EXPECT_GT(calls, 0u);
    for (int i = 0; i < 5; ++i) {
      begin();
      round();
    }
    EXPECT_EQ(memory.mapping_calls(), calls);
    memory.trim();
    round();
    EXPECT_GT(memory.mapping_calls(), calls);
  }
}

// As PyTorch's threads for backward passes do, which have no context until they call the runtime.
TEST_F(GpuMemory, AThreadMayAllocateOnceItIsAttached) {
  device::Memory& memory = device().memory(Allocator::plain);
  std::thread other([&] {
    const auto before = memory.acquire(12345);
    EXPECT_FALSE(before);
    device().attach_thread();
    auto region = memory.acquire(12345);
    ASSERT_TRUE(ok(region));
    memory.release(*region);
  });
  other.join();
  EXPECT_TRUE(ok(device().synchronize()));
}

TEST_F(GpuMemory, TooMuchIsOutOfMemoryAndTheDeviceLives) {
  const std::size_t too_much = 4 * device().info().memory_bytes;
  for (Allocator allocator : {Allocator::guard, Allocator::plain})
    for (std::size_t bytes : {too_much, ~std::size_t{0} - 100}) {
      auto region = device().memory(allocator).acquire(bytes);
      ASSERT_FALSE(region);
      EXPECT_EQ(region.error().kind, device::Failure::Kind::out_of_memory)
          << describe(region.error());
    }
  EXPECT_TRUE(ok(device().synchronize()));
}

// Cached memory is released when a request of another size needs it.
TEST_F(GpuMemory, CachedRegionsMakeRoom) {
  device::Memory& memory = device().memory(Allocator::guard);
  const std::size_t most = device().info().memory_bytes / 16 * 9;
  auto first = memory.acquire(most);
  if (!first) GTEST_SKIP() << "other processes use the GPU: " << describe(first.error());
  memory.release(*first);
  auto second = memory.acquire(most + (64 << 20));
  EXPECT_TRUE(ok(second));
  if (second) memory.release(*second);
  memory.trim();
}

TEST_F(GpuMemory, PlainRegionsHaveTheExactSize) {
  const device::Region region = acquire(1000, Allocator::plain);
  EXPECT_EQ(region.bytes, 1000u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.base) % 256, 0u);
  ASSERT_TRUE(ok(launch(device(), 0, store_byte_kernel(), kOneThread,
                        reinterpret_cast<std::uint8_t*>(region.base + 999), std::uint8_t{42})));
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(read_value<std::uint8_t>(region.base + 999), 42);
}

}  // namespace
}  // namespace redzone::gpu_test
