// Stream-ordered allocators, pinned memory and copies on CUDA.
#include "gpu/gpu_fixture.h"
#include "gpu/kernels.h"

namespace redzone::gpu_test {
namespace {

constexpr std::size_t kBytes = 100000;
constexpr PoolPolicy kNothingAllowed = {false, false, false, std::uint64_t{64} << 20};

class GpuOrderedMemory : public GpuTest {
 protected:
  void begin_with(const PoolPolicy& policy, Launch launch = Launch::async) {
    ASSERT_TRUE(ok(device().begin_trial({launch, 0, 2, policy})));
  }
  device::Region take(device::OrderedMemory& memory, int stream) {
    auto region = memory.acquire(kBytes, stream);
    EXPECT_TRUE(ok(region));
    return region ? *region : device::Region{};
  }
  void store(int stream, std::byte* at, std::uint8_t value) {
    ASSERT_TRUE(ok(launch(device(), stream, store_byte_kernel(), kOneThread,
                          reinterpret_cast<std::uint8_t*>(at), value)));
  }
};

// While launches are blocked nothing has run, so only the order of the host's calls decides.
TEST_F(GpuOrderedMemory, OnlyTheSameStreamReusesAtOnce) {
  for (Allocator allocator : {Allocator::caching, Allocator::pool}) {
    begin_with(kNothingAllowed, Launch::gated);
    device::OrderedMemory& memory = device().ordered_memory(allocator);
    ASSERT_TRUE(ok(device().hold()));
    const device::Region first = take(memory, 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.base) % 256, 0u);
    store(0, first.base + kBytes - 1, 1);
    ASSERT_TRUE(ok(memory.release(first, 0)));
    const device::Region other = take(memory, 1);
    EXPECT_NE(other.base, first.base) << "by another stream";
    const device::Region again = take(memory, 0);
    EXPECT_EQ(again.base, first.base);
    store(0, again.base, 2);
    ASSERT_TRUE(ok(memory.release(other, 1)));
    ASSERT_TRUE(ok(memory.release(again, 0)));
    ASSERT_TRUE(ok(device().synchronize()));
  }
}

TEST_F(GpuOrderedMemory, EveryPolicyOfThePoolIsAccepted) {
  for (int bits = 0; bits < 8; ++bits)
    for (const std::uint64_t threshold : {0, 1 << 26}) {
      begin_with({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, threshold});
      device::OrderedMemory& memory = device().ordered_memory(Allocator::pool);
      const device::Region region = take(memory, 1);
      store(1, region.base, 7);
      ASSERT_TRUE(ok(device().synchronize()));
      EXPECT_EQ(read_value<std::uint8_t>(region.base), 7);
      ASSERT_TRUE(ok(memory.release(region, 1)));
    }
  begin_with({});
}

TEST_F(GpuOrderedMemory, WhatATrialLeftBehindIsFreed) {
  for (int i = 0; i < 3; ++i) {
    begin_with({});
    take(device().ordered_memory(Allocator::pool), 0);
    take(device().ordered_memory(Allocator::caching), 0);
  }
  begin_with({});
  EXPECT_TRUE(ok(device().synchronize()));
}

TEST_F(GpuOrderedMemory, TooMuchIsOutOfMemoryAndTheDeviceLives) {
  const std::size_t too_much = 4 * device().info().memory_bytes;
  for (Allocator allocator : {Allocator::caching, Allocator::pool}) {
    begin_with({});
    auto region = device().ordered_memory(allocator).acquire(too_much, 0);
    ASSERT_FALSE(region);
    EXPECT_EQ(region.error().kind, device::Failure::Kind::out_of_memory)
        << describe(region.error());
    EXPECT_TRUE(ok(device().synchronize()));
  }
}

TEST_F(GpuOrderedMemory, CachedTrialsMapNothing) {
  device::OrderedMemory& memory = device().ordered_memory(Allocator::caching);
  const std::byte* first = nullptr;
  std::uint64_t calls = 0;
  for (int i = 0; i < 4; ++i) {
    begin_with({});
    const device::Region region = take(memory, 0);
    take(memory, 1);
    if (i == 0) {
      first = region.base;
      calls = memory.mapping_calls();
    }
    EXPECT_EQ(region.base, first);
  }
  EXPECT_EQ(memory.mapping_calls(), calls);
}

class GpuCopy : public GpuOrderedMemory {};

TEST_F(GpuCopy, ReadsPageLockedMemoryWhenItRuns) {
  auto host = device().pinned_memory().acquire(4096);
  ASSERT_TRUE(ok(host));
  const device::Region to = acquire(64);
  begin_with({}, Launch::gated);
  host->base[5] = std::byte{1};
  ASSERT_TRUE(ok(device().hold()));
  ASSERT_TRUE(ok(device().copy(0, to.base, host->base, 64)));
  host->base[5] = std::byte{2};
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(read_value<std::uint8_t>(to.base + 5), 2);
  device().pinned_memory().release(*host);
}

TEST_F(GpuCopy, WorksInAllDirectionsAndKernelsReachPageLockedMemory) {
  auto host = device().pinned_memory().acquire(4096);
  ASSERT_TRUE(ok(host));
  const device::Region guard = acquire(64), plain = acquire(64, Allocator::plain);
  begin_with({});
  store(0, host->base, 42);
  ASSERT_TRUE(ok(device().copy(0, guard.base, host->base, 1)));
  ASSERT_TRUE(ok(device().copy(0, plain.base, guard.base, 1)));
  ASSERT_TRUE(ok(device().copy(0, host->base + 1, plain.base, 1)));
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(host->base[1], std::byte{42});
  device().pinned_memory().release(*host);
}

TEST_F(GpuCopy, RefusesPageableMemoryAtOnceAlsoWhereTheStreamIsHeld) {
  const device::Region region = acquire(64);
  std::vector<std::byte> pageable(64);
  begin_with({}, Launch::gated);
  ASSERT_TRUE(ok(device().hold()));
  for (const auto& status : {device().copy(0, region.base, pageable.data(), 64),
                             device().copy(0, pageable.data(), region.base, 64)}) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().kind, device::Failure::Kind::launch_refused);
    EXPECT_EQ(status.error().code, "target-error");
  }
  EXPECT_TRUE(ok(device().synchronize()));
}

class GpuMemset : public GpuOrderedMemory {};

TEST_F(GpuMemset, SetsBytesOfGuardedAndOfPinnedMemoryInOrder) {
  auto host = device().pinned_memory().acquire(4096);
  ASSERT_TRUE(ok(host));
  const device::Region guard = acquire(64);
  begin_with({}, Launch::gated);
  ASSERT_TRUE(ok(device().hold()));
  ASSERT_TRUE(ok(device().memset(0, guard.base, 0, 64)));
  ASSERT_TRUE(ok(device().memset(0, guard.base + 3, 0xab, 7)));
  ASSERT_TRUE(ok(device().copy(0, host->base, guard.base, 64)));
  ASSERT_TRUE(ok(device().memset(0, host->base + 63, 0xcd, 1)));
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(host->base[2], std::byte{0});
  EXPECT_EQ(host->base[3], std::byte{0xab});
  EXPECT_EQ(host->base[9], std::byte{0xab});
  EXPECT_EQ(host->base[10], std::byte{0});
  EXPECT_EQ(host->base[63], std::byte{0xcd});
  device().pinned_memory().release(*host);
}

TEST_F(GpuMemset, BeyondTheMappingIsTheTargetsFailure) {
  const device::Region region = acquire(64);
  begin_with({});
  const auto status = device().memset(0, region.base, 0, region.bytes + 4096);
  if (status) {
    EXPECT_FALSE(device().synchronize());
    return;
  }
  EXPECT_NE(status.error().kind, device::Failure::Kind::harness);
}

}  // namespace
}  // namespace redzone::gpu_test
