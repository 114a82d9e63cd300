// What becomes of guarded device memory from its free on.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "interpose/device_layout.h"
#include "interpose/device_memory_fixture.h"

namespace redzone::interpose {
namespace {

TEST_F(DeviceMemoryTest, ADirtyCanaryIsFoundWhenItsBlockIsFreed) {
  const CuAddress at = allocate(100);
  allocate(100);
  fakeLaunchWrite(at + 90, 30, 1, stream_);
  EXPECT_EQ(free(at), DeviceMemory::Freed::freed);
  EXPECT_TRUE(findings().empty()) << "the device has not got there";
  settle();
  const auto found = findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::canary);
  EXPECT_EQ(found[0].side, Side::after);
  EXPECT_EQ(found[0].distance_bytes, 1u);
  EXPECT_EQ(found[0].wrong_bytes, 20u);
  EXPECT_EQ(found[0].address, at + 100);
  EXPECT_EQ(found[0].block.ordinal, 1u);
  EXPECT_EQ(found[0].block.bytes, 100u);
  EXPECT_TRUE(found[0].block.freed);
  EXPECT_TRUE(found[0].on_device);
}

TEST_F(DeviceMemoryTest, ADirtyCanaryBeforeABlockIsFoundAtTheEnd) {
  const CuAddress at = allocate(100);
  fakeLaunchWrite(at - 8, 4, 1, stream_);
  settle();
  const auto found = findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].side, Side::before);
  EXPECT_EQ(found[0].distance_bytes, 5u);
  EXPECT_EQ(found[0].wrong_bytes, 4u);
  EXPECT_FALSE(found[0].block.freed);
}

TEST_F(DeviceMemoryTest, CleanBlocksAreNotReported) {
  fakeSetEager(true);
  for (int i = 0; i < 50; ++i) {
    const CuAddress at = allocate(1000 + static_cast<std::size_t>(i) * 10, stream_);
    fakeLaunchWrite(at, 1000 + static_cast<std::size_t>(i) * 10, i, stream_);
    EXPECT_EQ(free(at, i % 2 == 0 ? Order(stream_) : Order()), DeviceMemory::Freed::freed);
    if (i % 3 == 0) memory().settle();
  }
  settle();
  EXPECT_EQ(counted(Counter::canaries_checked), 50u);
  EXPECT_TRUE(findings().empty());
}

TEST_F(DeviceMemoryTest, AFreeWaitsForNothing) {
  const CuAddress at = allocate(100);
  fakeLaunchWrite(at, 100, 1, stream_);
  const int before = fakeCalls("cuStreamSynchronize");
  free(at);
  EXPECT_EQ(fakeCalls("cuCtxSynchronize"), 0);
  EXPECT_EQ(fakeCalls("cuStreamSynchronize"), before);
  EXPECT_TRUE(fakeIsMapped(at, 100)) << "a kernel may still use it";
}

TEST_F(DeviceMemoryTest, AnOlderDriverSynchronizes) {
  driver_.record_context_event = nullptr;
  const CuAddress at = allocate(100);
  fakeLaunchWrite(at, 101, 1, stream_);
  free(at);
  EXPECT_EQ(fakeCalls("cuCtxSynchronize"), 1);
  settle();
  EXPECT_EQ(findings().size(), 1u) << "the copy of the canaries came before the kernel";
}

// The kernel comes before the free in its stream, but has not run when the memory is freed.
TEST_F(DeviceMemoryTest, FreedMemoryIsPoisonedInTheOrderOfTheStream) {
  const CuAddress at = allocate(64, stream_);
  fakeLaunchWrite(at, 64, 7, stream_);
  free(at, stream_);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_TRUE(holds(at, 64, 0xff));
}

TEST_F(DeviceMemoryTest, ASlotIsUsedAgainOnlyAfterItsEvent) {
  const CuAddress at = allocate(100);
  fakeLaunchWrite(at, 100, 1, stream_);
  free(at, stream_);
  const CuAddress other = allocate(100);
  EXPECT_NE(other, at);
  ASSERT_EQ(cuCtxSynchronize(), 0);
  EXPECT_EQ(allocate(100), at);
  EXPECT_EQ(counted(Counter::slots_reused), 1u);
}

TEST_F(DeviceMemoryTest, ABlockOfTheSameSizeInAFreedSlotNeedsNoCall) {
  const CuAddress at = allocate(100);
  free(at);
  settle();
  const int before = fakeCalls("cuMemsetD8Async");
  EXPECT_EQ(allocate(100), at);
  EXPECT_EQ(fakeCalls("cuMemsetD8Async"), before);
  EXPECT_TRUE(holds(at, 100, 0xff));
  free(at);
  settle();
  const CuAddress larger = allocate(300);
  EXPECT_TRUE(holds(larger, 300, 0xff));
  EXPECT_TRUE(holds(larger + 300, 212, kCanaryByte));
}

TEST_F(DeviceMemoryTest, EachFreedBlockIsUnmappedWithRetireAllBeforeItsFreeReturns) {
  settings_.retire = Retire::all;
  fakeSetEager(true);
  const CuAddress at = allocate(100);
  fakeLaunchWrite(at, 101, 1, stream_);
  free(at);
  EXPECT_FALSE(fakeIsMapped(at, 1));
  ASSERT_EQ(findings().size(), 1u) << "the canaries were not compared first";
  EXPECT_EQ(findings()[0].kind, FindingKind::canary);
  EXPECT_NE(allocate(100), at);
  fakeLaunchRead(at, 4, stream_);
  EXPECT_EQ(cuStreamSynchronize(stream_), kCuIllegalAddress);
}

TEST_F(DeviceMemoryTest, ASampleIsUnmappedByDefault) {
  fakeSetEager(true);
  for (std::uint64_t i = 1; i <= 4 * kRetireEvery; ++i) {
    const CuAddress at = allocate(100);
    free(at);
    EXPECT_EQ(fakeIsMapped(at, 1), i % kRetireEvery != 0) << i;
  }
  EXPECT_EQ(counted(Counter::slots_retired), 4u);
  EXPECT_EQ(counted(Counter::slots_mapped), 4u);
}

TEST_F(DeviceMemoryTest, FewerAreUnmappedLater) {
  fakeSetEager(true);
  for (std::uint64_t i = 1; i <= kRetireFirst; ++i) free(allocate(100));
  const std::uint64_t first = kRetireFirst / kRetireEvery;
  EXPECT_EQ(counted(Counter::slots_retired), first);
  for (std::uint64_t i = 1; i <= 2 * kRetireEveryLater; ++i) free(allocate(100));
  EXPECT_EQ(counted(Counter::slots_retired), first + 2);
}

TEST_F(DeviceMemoryTest, TheProgramsStreamDoesNotWaitForTheCopyOfCanaries) {
  const CuAddress at = allocate(100, stream_);
  cuStreamSynchronize(stream_);
  const int copies = fakeCalls("cuMemcpyDtoHAsync_v2");
  fakeLaunchWrite(at, 101, 7, stream_);
  free(at, stream_);
  EXPECT_GT(fakeCalls("cuMemcpyDtoHAsync_v2"), copies);
  cuStreamSynchronize(stream_);
  EXPECT_EQ(*reinterpret_cast<unsigned char*>(at), 0xff) << "its poison is in its order";
  memory().retire_passed("cuStreamSynchronize");
  EXPECT_EQ(counted(Counter::canaries_checked), 0u) << "the copy is in another stream";
  settle();
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings()[0].kind, FindingKind::canary);
}

// Kernels that take long in other streams, more of them than events are asked for in one call.
TEST_F(DeviceMemoryTest, AKernelThatTakesLongHoldsUpNoBlockOfAnotherStream) {
  fakeSetEager(true);
  fakeLaunchGate(stream_);
  for (int i = 0; i < 12; ++i) {
    CuStream busy = nullptr;
    ASSERT_EQ(cuStreamCreate(&busy, kCuStreamNonBlocking), 0);
    const CuAddress at = allocate(4096, busy);
    fakeLaunchGate(busy);
    free(at, busy);
  }
  CuStream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, kCuStreamNonBlocking), 0);
  const auto before = counted(Counter::slots_mapped);
  for (int i = 0; i < 200; ++i) {
    const CuAddress at = allocate(4096, other);
    free(at, other);
    ASSERT_EQ(cuStreamSynchronize(other), 0);
    memory().retire_passed("cuStreamSynchronize");
  }
  const auto unmapped = 200 / kRetireEvery;
  EXPECT_LE(counted(Counter::slots_mapped), before + unmapped + 8);
  fakeOpenGate();
  settle();
  EXPECT_TRUE(findings().empty());
}

TEST_F(DeviceMemoryTest, BareLeavesGuardPagesAlone) {
  settings_.bare = true;
  settings_.poison = -1;
  fakeSetEager(true);
  for (int i = 0; i < 2 * static_cast<int>(kRetireEvery); ++i) {
    const CuAddress at = allocate(1000, stream_);
    fakeLaunchWrite(at, 1004, 7, stream_);
    free(at, stream_);
  }
  const CuAddress live = allocate(1000);
  fakeLaunchWrite(live, 1004, 7, stream_);
  settle();
  EXPECT_TRUE(findings().empty()) << "there is no canary";
  EXPECT_EQ(fakeCalls("cuMemsetD8Async") + fakeCalls("cuMemcpyDtoHAsync_v2"), 0);
  EXPECT_EQ(counted(Counter::slots_retired), 0u);
  fakeLaunchWrite(live, 1025, 7, stream_);
  EXPECT_EQ(cuStreamSynchronize(stream_), kCuIllegalAddress) << "there is a guard page";
}

TEST_F(DeviceMemoryTest, AFreeInTheOrderOfAStreamWaitsForNothingThoughItsBlockIsUnmapped) {
  settings_.retire = Retire::all;
  const CuAddress at = allocate(100, stream_);
  fakeLaunchWrite(at, 100, 1, stream_);
  free(at, stream_);
  EXPECT_TRUE(fakeIsMapped(at, 100)) << "a kernel may still use it";
  settle();
  EXPECT_FALSE(fakeIsMapped(at, 1));
}

TEST_F(DeviceMemoryTest, AFreeWaitsForTheDeviceForALimitedTime) {
  settings_.retire = Retire::all;
  const CuAddress at = allocate(100);
  fakeLaunchWrite(at, 100, 1, stream_);
  EXPECT_EQ(free(at), DeviceMemory::Freed::freed);
  EXPECT_TRUE(fakeIsMapped(at, 100)) << "the device does not get on";
  settle();
  EXPECT_FALSE(fakeIsMapped(at, 1));
  EXPECT_TRUE(findings().empty());
}

TEST_F(DeviceMemoryTest, AFreeThatMeetsAnErrorReportsIt) {
  settings_.retire = Retire::all;
  settings_.align_bytes = 4;
  fakeSetEager(true);
  const CuAddress at = allocate(4096);
  fakeLaunchWrite(at, 4100, 1, stream_);
  EXPECT_EQ(free(at), DeviceMemory::Freed::freed);
  const auto found = findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::device_error);
  EXPECT_EQ(found[0].call, "cuMemFree");
}

class UnseenError : public DeviceMemoryTest, public testing::WithParamInterface<bool> {};

// The program ends, or destroys its context, before it has asked.
TEST_P(UnseenError, IsReportedAtTheEnd) {
  settings_.align_bytes = 4;
  const CuAddress at = allocate(4096), other = allocate(4096);
  fakeLaunchWrite(at, 4100, 1, stream_);
  if (GetParam()) free(other);
  settle();
  const auto found = findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::device_error);
  EXPECT_EQ(found[0].code, kCuIllegalAddress);
  settle();
  EXPECT_EQ(findings().size(), 1u) << "an error is reported once";
}

INSTANTIATE_TEST_SUITE_P(WithAFreedBlock, UnseenError, testing::Bool());

// A free on another thread, which waits for a device that does not get on until it is told to.
class WaitingFree : public DeviceMemoryTest {
 protected:
  void SetUp() override {
    DeviceMemoryTest::SetUp();
    settings_.retire = Retire::all;
    at_ = allocate(100);
    fakeLaunchWrite(at_, 100, 1, stream_);
    const int asked = fakeCalls("cuEventQuery");
    thread_ = std::thread([this] {
      cuCtxSetCurrent(kContext);
      free(at_);
      returned_ = true;
    });
    while (fakeCalls("cuEventQuery") < asked + 2) std::this_thread::yield();
  }
  void TearDown() override {
    if (thread_.joinable()) thread_.join();
  }
  void let_the_device_get_on() {
    fakeSetEager(true);
    thread_.join();
  }

  CuAddress at_ = 0;
  std::atomic<bool> returned_ = false;
  std::thread thread_;
};

TEST_F(WaitingFree, HoldsUpNoOtherThread) {
  const CuAddress other = allocate(100, stream_);
  EXPECT_NE(other, 0u);
  EXPECT_TRUE(memory().find(other));
  EXPECT_FALSE(memory().find(at_)) << "it is freed already";
  EXPECT_EQ(free(at_), DeviceMemory::Freed::wrong);
  EXPECT_FALSE(returned_) << "nothing was waited for";
  EXPECT_TRUE(fakeIsMapped(at_, 100));
  let_the_device_get_on();
  EXPECT_FALSE(fakeIsMapped(at_, 1));
  EXPECT_EQ(counted(Counter::slots_retired), 1u);
}

TEST_F(WaitingFree, IsFinishedByAnotherThread) {
  fakeSetEager(true);
  memory().settle();
  EXPECT_FALSE(fakeIsMapped(at_, 1));
  thread_.join();
  EXPECT_EQ(counted(Counter::slots_retired), 1u);
  EXPECT_EQ(counted(Counter::canaries_checked), 1u);
}

TEST_F(WaitingFree, EndsWithItsContext) {
  memory().context_gone(kContext);
  EXPECT_FALSE(fakeIsMapped(at_, 1));
  thread_.join();
  EXPECT_EQ(counted(Counter::canaries_checked), 0u);
}

TEST_F(WaitingFree, DoesNotInvalidateACapture) {
  EXPECT_TRUE(memory().capture_begins(stream_));
  ASSERT_EQ(cuStreamBeginCapture_v2(stream_, 0), 0);
  thread_.join();
  EXPECT_TRUE(fakeIsMapped(at_, 100));
  CuGraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream_, &graph), 0) << "the capture was invalidated";
  memory().capture_over(stream_);
  settle();
  EXPECT_FALSE(fakeIsMapped(at_, 1));
}

// More failures than one chunk of buffers has room for.
constexpr int kManyFailures = 300;

class FailedRetirement : public DeviceMemoryTest,
                         public testing::WithParamInterface<const char*> {};

TEST_P(FailedRetirement, LosesNoEventAndNoBuffer) {
  constexpr int unknown = 999;
  free(allocate(100));
  settle();
  const int events = fakeCalls("cuEventCreate"), chunks = fakeCalls("cuMemHostAlloc");
  fakeSetEager(true);
  for (int i = 0; i < kManyFailures; ++i) {
    const CuAddress at = allocate(100);
    ASSERT_NE(at, 0u);
    fakeFail(GetParam(), unknown, 1);
    EXPECT_EQ(free(at), DeviceMemory::Freed::freed);
    memory().settle();
  }
  EXPECT_EQ(fakeCalls("cuEventCreate"), events);
  EXPECT_EQ(fakeCalls("cuMemHostAlloc"), chunks);
  EXPECT_TRUE(findings().empty()) << "canaries that were not copied say nothing";
}

INSTANTIATE_TEST_SUITE_P(Calls, FailedRetirement,
                         testing::Values("cuCtxRecordEvent", "cuStreamWaitEvent",
                                         "cuMemcpyDtoHAsync_v2", "cuMemsetD8Async"));

TEST_F(DeviceMemoryTest, WithoutABufferTheEventIsNotLost) {
  const CuAddress first = allocate(100), second = allocate(100);
  fakeFail("cuMemHostAlloc", kCuOutOfMemory, 1);
  free(first);
  free(second);
  EXPECT_EQ(fakeCalls("cuMemHostAlloc"), 2);
  EXPECT_EQ(fakeCalls("cuEventCreate"), 1);
}

// Without an event nobody knows when the device has written to the buffer.
TEST_F(DeviceMemoryTest, WithoutItsEventABufferIsNotUsedAgain) {
  constexpr int unknown = 999;
  CuStream second = nullptr;
  ASSERT_EQ(cuStreamCreate(&second, kCuStreamNonBlocking), 0);
  const CuAddress at = allocate(100), other = allocate(100);
  fakeLaunchWrite(at, 101, 1, stream_);
  fakeFail("cuEventRecord", unknown, 1);
  free(at, stream_);
  free(other, second);
  EXPECT_EQ(fakeCalls("cuEventCreate"), 1);
  ASSERT_EQ(cuStreamSynchronize(second), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  settle();
  EXPECT_TRUE(findings().empty()) << "the copy of one block was compared as that of the other";
  EXPECT_EQ(counted(Counter::canaries_checked), 1u);
}

}  // namespace
}  // namespace redzone::interpose
