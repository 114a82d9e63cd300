// The bookkeeping of guarded device memory: where blocks lie, what they hold, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "interpose/device_layout.h"
#include "interpose/device_memory_fixture.h"

namespace redzone::interpose {
namespace {

TEST_F(DeviceMemoryTest, ABlockEndsAtAPageThatIsNotMapped) {
  settings_.align_bytes = 16;
  const CuAddress at = allocate(4096);
  ASSERT_NE(at, 0u);
  EXPECT_TRUE(fakeIsMapped(at, 4096));
  EXPECT_FALSE(fakeIsMapped(at + 4096, 1));
  EXPECT_FALSE(fakeIsMapped(at + 4096 - kSlot - 1, 1)) << "nor is there one before the slot";
}

TEST_F(DeviceMemoryTest, ABlockBeginsAtAPageThatIsNotMapped) {
  settings_.placement = Placement::guard_before;
  const CuAddress at = allocate(100);
  EXPECT_TRUE(fakeIsMapped(at, 100));
  EXPECT_FALSE(fakeIsMapped(at - 1, 1));
}

TEST_F(DeviceMemoryTest, BlocksAreAlignedAsTheDriverPromises) {
  for (const std::size_t bytes : {1, 100, 255, 257, 5000}) {
    const CuAddress at = allocate(bytes);
    EXPECT_EQ(at % kDeviceAlignBytes, 0u) << bytes;
    const CuAddress end =
        at + (bytes + kDeviceAlignBytes - 1) / kDeviceAlignBytes * kDeviceAlignBytes;
    EXPECT_FALSE(fakeIsMapped(end, 1)) << bytes;
  }
}

TEST_F(DeviceMemoryTest, NewMemoryIsPoisonedAndItsSlackIsCanary) {
  const CuAddress at = allocate(100);
  EXPECT_TRUE(holds(at, 100, 0xff));
  EXPECT_TRUE(holds(at + 100, 156, kCanaryByte));
  EXPECT_TRUE(holds(at - kZoneBytes, kZoneBytes, kCanaryByte));
}

TEST_F(DeviceMemoryTest, PoisonRunsInTheOrderOfTheStream) {
  const CuAddress at = allocate(64, stream_);
  EXPECT_EQ(*reinterpret_cast<unsigned char*>(at), 0) << "nobody has waited for the stream";
  fakeLaunchWrite(at, 64, 7, stream_);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_TRUE(holds(at, 64, 7)) << "the poison overtook a kernel";
  EXPECT_EQ(fakeCalls("cuCtxSynchronize"), 1) << "only the one of this test";
}

TEST_F(DeviceMemoryTest, WithoutPoisonMemoryIsLeftAsItIs) {
  settings_.poison = -1;
  const CuAddress at = allocate(64);
  EXPECT_TRUE(holds(at, 64, 0));
  EXPECT_TRUE(holds(at + 64, 192, kCanaryByte));
}

TEST_F(DeviceMemoryTest, AnOverrunFaults) {
  settings_.align_bytes = 4;
  const CuAddress at = allocate(4000);
  fakeLaunchWrite(at, 4004, 1, stream_);
  const int result = cuStreamSynchronize(stream_);
  EXPECT_EQ(result, kCuIllegalAddress);
  memory().check_result(result, "cuStreamSynchronize");
  memory().check_result(result, "cuStreamSynchronize");
  const auto found = findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::device_error);
  EXPECT_EQ(found[0].code, kCuIllegalAddress);
  EXPECT_EQ(found[0].call, "cuStreamSynchronize");
  EXPECT_EQ(allocate(100), 0u) << "the driver answers in a broken context";
  EXPECT_EQ(free(at), DeviceMemory::Freed::freed);
}

TEST_F(DeviceMemoryTest, SmallBlocksShareSlotsOverTheBudget) {
  settings_.max_memory_bytes = 2 * kSlot;
  std::vector<CuAddress> blocks;
  blocks.reserve(500);
  for (int i = 0; i < 500; ++i) blocks.push_back(allocate(1000));
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), 0u), 0);
  EXPECT_EQ(counted(Counter::left_out_shared), 498u);
  EXPECT_LT(counted(Counter::slots_mapped), 10u);
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t i = 1; i < blocks.size(); ++i)
    EXPECT_GE(blocks[i], blocks[i - 1] + 1000 + kZoneBytes);
  fakeLaunchWrite(blocks[5] + 1000, 3, 1, stream_);
  settle();
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].block.address, blocks[5]);
  for (const CuAddress at : blocks) EXPECT_EQ(free(at), DeviceMemory::Freed::freed);
  settle();
  EXPECT_TRUE(fakeIsMapped(blocks[5], 1000)) << "its neighbours may be in use";
}

TEST_F(DeviceMemoryTest, ALargeBlockOverTheBudgetKeepsItsOwnSlot) {
  settings_.max_memory_bytes = kSlot;
  allocate(100);
  const CuAddress at = allocate(1 << 20);
  EXPECT_FALSE(fakeIsMapped(at + (1 << 20), 1));
  EXPECT_EQ(counted(Counter::left_out_shared), 0u);
}

// A slot of another size is of no use to them, and takes from the budget.
TEST_F(DeviceMemoryTest, WhatIsFreeComesBeforeSharingAndLargeBlocksKeepToTheBudget) {
  settings_.max_memory_bytes = 4 * kSlot;
  fakeSetEager(true);
  const CuAddress large = allocate(4 * kSlot);
  free(large, stream_);  // nothing has asked whether it is over
  const CuAddress small = allocate(100);
  EXPECT_FALSE(fakeIsMapped(large, 1));
  EXPECT_EQ(counted(Counter::left_out_shared), 0u);
  free(small, stream_);
  const CuAddress other = allocate(4 * kSlot);
  EXPECT_TRUE(fakeIsMapped(other, 1));
  EXPECT_FALSE(fakeIsMapped(small, 1)) << "more than the budget is mapped";
}

TEST_F(DeviceMemoryTest, WhenMemoryRunsOutFreedSlotsAreGivenBack) {
  fakeLimitMemory(4 * kSlot);
  settings_.max_memory_bytes = 8 * kSlot;
  std::vector<CuAddress> blocks;
  blocks.reserve(4);
  for (int i = 0; i < 4; ++i) blocks.push_back(allocate(kSlot));
  for (const CuAddress at : blocks) free(at);
  settle();
  EXPECT_NE(allocate(3 * kSlot), 0u);
  EXPECT_EQ(allocate(3 * kSlot), 0u);
  EXPECT_EQ(counted(Counter::left_out_memory), 1u);
}

TEST_F(DeviceMemoryTest, ACaptureIsNotDisturbed) {
  const CuAddress ready = allocate(512), other = allocate(512), live = allocate(512);
  free(ready);
  settle();
  const auto checked = counted(Counter::canaries_checked);
  EXPECT_TRUE(memory().capture_begins(stream_));
  ASSERT_EQ(cuStreamBeginCapture_v2(stream_, 0), 0);
  EXPECT_EQ(free(other), DeviceMemory::Freed::freed);
  EXPECT_EQ(free(live, stream_), DeviceMemory::Freed::freed);
  EXPECT_EQ(allocate(512), ready) << "it was ready as it is";
  EXPECT_EQ(allocate(512), 0u);
  EXPECT_EQ(allocate(512, stream_), 0u);
  EXPECT_TRUE(memory().find(ready));
  CuGraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream_, &graph), 0) << "the capture was invalidated";
  EXPECT_EQ(counted(Counter::frees_deferred), 2u);
  EXPECT_EQ(counted(Counter::left_out_capture), 2u);
  EXPECT_EQ(counted(Counter::canaries_checked), checked);
  memory().capture_over(stream_);
  settle();
  EXPECT_EQ(counted(Counter::canaries_checked), checked + 3) << "two freed ones, and a live one";
}

// The fake driver invalidates captures, or the test above proves nothing.
TEST_F(DeviceMemoryTest, ACaptureThatTheGuardDoesNotKnowIsInvalidated) {
  const CuAddress at = allocate(512);
  ASSERT_EQ(cuStreamBeginCapture_v2(stream_, 0), 0);
  free(at);
  CuGraph graph = nullptr;
  EXPECT_NE(cuStreamEndCapture(stream_, &graph), 0);
}

TEST_F(DeviceMemoryTest, AddressesWithinABlockAreKnown) {
  const CuAddress at = allocate(100);
  for (const CuAddress inside : {at, at + 99}) {
    const auto view = memory().find(inside);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->address, at);
    EXPECT_EQ(view->bytes, 100u);
    EXPECT_EQ(view->context, kContext);
  }
  EXPECT_FALSE(memory().find(at + 100));
  EXPECT_FALSE(memory().find(at - 1));
  free(at);
  EXPECT_FALSE(memory().find(at));
}

TEST_F(DeviceMemoryTest, WrongFreesAreReported) {
  const CuAddress at = allocate(100);
  EXPECT_EQ(free(at + 16), DeviceMemory::Freed::wrong);
  EXPECT_EQ(free(at), DeviceMemory::Freed::freed);
  EXPECT_EQ(free(at), DeviceMemory::Freed::wrong);
  EXPECT_EQ(free(0x5000), DeviceMemory::Freed::foreign);
  const auto found = findings();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].kind, FindingKind::bad_free);
  EXPECT_EQ(found[0].distance_bytes, 16u);
  EXPECT_FALSE(found[0].block.freed);
  EXPECT_EQ(found[1].distance_bytes, 0u);
  EXPECT_TRUE(found[1].block.freed);
}

// A loop that takes its blocks from the slots of freed ones, for longer than freed blocks are
// remembered by their number.
TEST_F(DeviceMemoryTest, ASecondFreeIsFoundThoughItsAddressWasFreedBefore) {
  fakeSetEager(true);
  settings_.on_error = OnError::go_on;  // nothing is unmapped
  constexpr std::size_t blocks = 100;
  std::vector<CuAddress> all(blocks);
  for (std::size_t freed = 0; freed < kFreedKept + 5 * blocks; freed += blocks) {
    for (CuAddress& at : all) at = allocate(100);
    for (const CuAddress at : all) free(at);
  }
  for (const CuAddress at : all) EXPECT_EQ(free(at), DeviceMemory::Freed::wrong);
}

TEST_F(DeviceMemoryTest, ADriverWithoutVirtualMemoryIsCounted) {
  fakeSetVirtualMemory(false);
  EXPECT_EQ(allocate(100), 0u);
  EXPECT_EQ(counted(Counter::left_out_no_vmm), 1u);
  EXPECT_EQ(counted(Counter::device_blocks), 0u);
}

class RefusedCall : public DeviceMemoryTest, public testing::WithParamInterface<const char*> {};

TEST_P(RefusedCall, LeavesTheBlockToTheDriver) {
  constexpr int unknown = 999;
  memory();
  fakeFail(GetParam(), unknown, 1);
  EXPECT_EQ(allocate(100), 0u);
  EXPECT_EQ(counted(Counter::left_out_refused), 1u);
  EXPECT_NE(allocate(100), 0u) << "the next one is guarded";
  settle();
  EXPECT_TRUE(findings().empty());
}

INSTANTIATE_TEST_SUITE_P(Calls, RefusedCall,
                         testing::Values("cuMemAddressReserve", "cuMemCreate", "cuMemMap",
                                         "cuMemSetAccess", "cuMemsetD8Async", "cuStreamCreate",
                                         "cuStreamSynchronize"));

TEST_F(DeviceMemoryTest, NothingIsLeftOfAContextThatIsDestroyed) {
  const CuAddress live = allocate(100), pending = allocate(100);
  free(pending);
  memory().context_gone(kContext);
  EXPECT_FALSE(fakeIsMapped(live, 1));
  EXPECT_FALSE(fakeIsMapped(pending, 1));
  EXPECT_EQ(free(live), DeviceMemory::Freed::foreign);
  EXPECT_NE(allocate(100), 0u) << "the next context of that address works";
}

// Collectives of several devices read each other's memory.
TEST_F(DeviceMemoryTest, APeerMayAccessBlocksOfBeforeAndAfter) {
  settings_.max_memory_bytes = 3 * kSlot;
  const CuAddress before = allocate(100), freed = allocate(100);
  free(freed);
  settle();
  EXPECT_TRUE(fakeCanAccess(before, 0));
  EXPECT_FALSE(fakeCanAccess(before, 1));
  cuCtxSetCurrent(kSecondContext);
  const CuAddress of_peer = allocate(100);
  memory().peer_enabled(kContext);
  memory().peer_enabled(kContext);
  CuContext current = nullptr;
  driver_.get_context(&current);
  EXPECT_EQ(current, kSecondContext);
  cuCtxSetCurrent(kContext);
  const CuAddress reused = allocate(100), after = allocate(100);
  EXPECT_EQ(reused, freed);
  for (const CuAddress at : {before, reused, after, allocate(100), allocate(100)}) {
    EXPECT_TRUE(fakeCanAccess(at, 0));
    EXPECT_TRUE(fakeCanAccess(at, 1));
  }
  EXPECT_GT(counted(Counter::left_out_shared), 0u);
  EXPECT_FALSE(fakeCanAccess(of_peer, 0)) << "access goes one way";
}

TEST_F(DeviceMemoryTest, WithoutAContextTheDriverAnswers) {
  cuCtxSetCurrent(nullptr);
  EXPECT_EQ(allocate(100), 0u);
  cuCtxSetCurrent(kContext);
  EXPECT_EQ(allocate(0), 0u);
  EXPECT_NE(allocate(100), 0u);
}

}  // namespace
}  // namespace redzone::interpose
