#include <gtest/gtest.h>

#include <cstring>

#include "core/page.h"
#include "device/device.h"
#include "device/host/guard_arena.h"
#include "tests/device/on_device.h"

namespace redzone::device {
namespace {

TEST(GuardMemory, TheWholeRegionIsUsableAndTheHolesAreNot) {
  auto device = open_host_device();
  auto region = device->memory(Allocator::guard).acquire(100);
  ASSERT_TRUE(region.has_value());
  EXPECT_EQ(region->bytes, 4096u);
  std::memset(region->base, 1, region->bytes);
  volatile std::byte* const base = region->base;
  EXPECT_EXIT(base[region->bytes] = std::byte{1}, ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(base[-1] = std::byte{1}, ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(base[region->bytes + 65535] = std::byte{1}, ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(base[-65536] = std::byte{1}, ::testing::KilledBySignal(SIGSEGV), "");
}

TEST(GuardMemory, NeighboursAreSeparatedByHoles) {
  auto device = open_host_device();
  Memory& memory = device->memory(Allocator::guard);
  std::vector<Region> regions;
  for (std::size_t bytes : {1, 4096, 4097, 1000000, 4096, 3}) {
    auto region = memory.acquire(bytes);
    ASSERT_TRUE(region.has_value());
    EXPECT_GE(region->bytes, bytes);
    EXPECT_LT(region->bytes - bytes, 4096u);
    for (const Region& other : regions) {
      const bool below = region->base + region->bytes + 65536 <= other.base;
      const bool above = other.base + other.bytes + 65536 <= region->base;
      EXPECT_TRUE(below || above);
    }
    regions.push_back(*region);
  }
}

TEST(Memory, SteadyStateMapsNothing) {
  for (Allocator allocator : {Allocator::guard, Allocator::plain}) {
    auto device = open_host_device();
    Memory& memory = device->memory(allocator);
    const auto trial = [&] {
      ASSERT_TRUE(device->begin_trial({}).has_value());
      std::vector<Region> regions;
      for (std::size_t bytes : {1u, 300u, 4096u, 5000u, 5000u, 1u << 20, 20u << 20}) {
        auto region = memory.acquire(bytes);
        ASSERT_TRUE(region.has_value());
        regions.push_back(*region);
      }
      for (const Region& region : regions) memory.release(region);
    };
    trial();
    const std::uint64_t calls = memory.mapping_calls();
    EXPECT_GT(calls, 0u);
    for (int i = 0; i < 10; ++i) trial();
    EXPECT_EQ(memory.mapping_calls(), calls);
    memory.trim();
    EXPECT_GT(memory.mapping_calls(), calls);
    trial();
  }
}

TEST(GuardMemory, TrimmedRegionsAreClosedAndTheirPlacesUsedAgain) {
  auto device = open_host_device();
  Memory& memory = device->memory(Allocator::guard);
  auto region = memory.acquire(4096);
  ASSERT_TRUE(region.has_value());
  volatile std::byte* const base = region->base;
  memory.release(*region);
  memory.trim();
  EXPECT_EXIT(base[0] = std::byte{1}, ::testing::KilledBySignal(SIGSEGV), "");
  auto again = memory.acquire(4096);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->base, region->base);
}

TEST(GuardMemory, AHugeSparseRegionIsCheapAndAnImpossibleOneIsRefused) {
  auto device = open_host_device();
  Memory& memory = device->memory(Allocator::guard);
  auto region = memory.acquire(std::size_t{20} << 30);
  ASSERT_TRUE(region.has_value());
  region->base[0] = std::byte{1};
  region->base[region->bytes - 1] = std::byte{2};
  memory.release(*region);
  ASSERT_TRUE(device->begin_trial({}).has_value());
  auto again = memory.acquire(std::size_t{20} << 30);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->base, region->base);
  EXPECT_EQ(again->base[0], std::byte{0}) << "the pages were not given back";

  const auto refused = memory.acquire((std::size_t{64} << 30) + 1);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, Failure::Kind::out_of_memory);
}

TEST(GuardArena, ClosedRegionsKeepTheirPagesUpToTheLimit) {
  constexpr std::size_t kHole = 65536;
  GuardArena arena(kHole, 3 * kPageBytes);
  const auto opened = [&](std::size_t pages) {
    const Region region = arena.open(pages * kPageBytes);
    EXPECT_NE(region.base, nullptr);
    return region;
  };
  const Region two = opened(2), one = opened(1), over = opened(1);
  for (const Region& region : {two, one, over}) {
    std::memset(region.base, 7, region.bytes);
    arena.close(region);
    volatile std::byte* const base = region.base;
    EXPECT_DEATH((void)base[0], "");
    EXPECT_DEATH((void)base[region.bytes - 1], "");
    arena.recycle(region);
  }
  // The smallest that fits, and of two of one size the first that was recycled.
  EXPECT_EQ(opened(1).base, one.base);
  EXPECT_EQ(one.base[0], std::byte{7});
  EXPECT_EQ(opened(1).base, over.base);
  EXPECT_EQ(over.base[0], std::byte{0}) << "beyond the limit";
  EXPECT_EQ(opened(1).base, two.base) << "at most twice as large";
  EXPECT_EQ(two.base[0], std::byte{7});
  arena.close({two.base, kPageBytes});
  arena.recycle({two.base, kPageBytes});
  EXPECT_EQ(opened(2).base, two.base);
  EXPECT_EQ(two.base[0], std::byte{7});
  EXPECT_EQ(two.base[kPageBytes], std::byte{0}) << "it was not used by the last owner";
}

TEST(PlainMemory, AnOverrunLandsInTheNeighbour) {
  auto device = open_host_device();
  Memory& memory = device->memory(Allocator::plain);
  auto first = memory.acquire(1000), second = memory.acquire(1000);
  ASSERT_TRUE(first.has_value() && second.has_value());
  std::memset(second->base, 0, second->bytes);
  first->base[first->bytes] = std::byte{9};
  EXPECT_EQ(second->base[0], std::byte{9});
}

TEST(PlainMemory, IsAlignedAndWritable) {
  auto device = open_host_device();
  auto region = device->memory(Allocator::plain).acquire(1000);
  ASSERT_TRUE(region.has_value());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region->base) % 256, 0u);
  std::memset(region->base, 7, region->bytes);
  device->memory(Allocator::plain).release(*region);
}

}  // namespace
}  // namespace redzone::device
