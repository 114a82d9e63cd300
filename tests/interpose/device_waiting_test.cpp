// Waits of guarded device memory: what they wait for, and that they hold up no other thread.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "interpose/device_memory_fixture.h"

namespace redzone::interpose {
namespace {

using namespace std::chrono_literals;

class WaitingTest : public DeviceMemoryTest {
 protected:
  void TearDown() override {
    fakeLetGo();
    fakeOpenGate();
    fakeSetEager(true);
    for (std::thread& thread : threads_) thread.join();
  }
  // On a thread with the context. False: it has not returned in time.
  bool returns(const std::function<void()>& call, std::chrono::milliseconds most = 5s) {
    return begin(call).wait_for(most) == std::future_status::ready;
  }
  std::future<void> begin(const std::function<void()>& call) {
    std::packaged_task<void()> task([call] {
      cuCtxSetCurrent(kContext);
      call();
    });
    auto out = task.get_future();
    threads_.emplace_back(std::move(task));
    return out;
  }
  // Begins a call and returns once it has called the driver's function `times` more often.
  std::future<void> begin_until(const char* function, int times,
                                const std::function<void()>& call) {
    const int before = fakeCalls(function);
    auto out = begin(call);
    while (fakeCalls(function) < before + times) std::this_thread::yield();
    return out;
  }
  // Well before a bounded wait of the guard is over.
  bool can_find(CuAddress at) {
    return returns([this, at] { memory().find(at); }, 1s);
  }

  std::vector<std::thread> threads_;
};

TEST_F(WaitingTest, AnAllocationDoesNotWaitForEarlierWork) {
  const CuAddress at = allocate(100);
  fakeLaunchGate(stream_);
  free(at);
  std::atomic<CuAddress> other{0};
  EXPECT_TRUE(returns([&] { other = allocate(2 * kSlot); }));
  fakeOpenGate();
  EXPECT_TRUE(holds(other, 2 * kSlot, 0xff));
}

TEST_F(WaitingTest, AnAllocationThatWaitsHoldsUpNoOtherThread) {
  const CuAddress at = allocate(100);
  fakeHold("cuStreamSynchronize");
  std::atomic<CuAddress> other{0};
  const auto waits = begin_until("cuStreamSynchronize", 1, [&] { other = allocate(100); });
  EXPECT_TRUE(can_find(at));
  EXPECT_EQ(other, 0u);
  fakeLetGo();
  waits.wait();
  EXPECT_TRUE(memory().find(other));
}

TEST_F(WaitingTest, AContextMayGoWhileAnAllocationWaits) {
  fakeHold("cuStreamSynchronize");
  std::atomic<CuAddress> at{1};
  const auto waits = begin_until("cuStreamSynchronize", 1, [&] { at = allocate(100); });
  memory().context_gone(kContext);
  fakeLetGo();
  waits.wait();
  EXPECT_EQ(at, 0u);
  EXPECT_EQ(counted(Counter::left_out_refused), 1u);
  EXPECT_NE(allocate(100), 0u);
}

TEST_F(WaitingTest, TheLastLookHoldsUpNoOtherThread) {
  const CuAddress at = allocate(100), other = allocate(100);
  fakeLaunchGate(stream_);
  free(at);
  const auto settles = begin_until("cuEventQuery", 2, [this] { memory().settle(); });
  EXPECT_TRUE(can_find(other));
  EXPECT_EQ(settles.wait_for(0s), std::future_status::timeout);
}

TEST_F(WaitingTest, ABlockFreedDuringTheLastLookIsComparedOnce) {
  const CuAddress at = allocate(100), other = allocate(100);
  fakeLaunchGate(stream_);
  fakeLaunchWrite(at, 101, 1, stream_);
  auto settles = begin_until("cuEventQuery", 2, [this] { memory().settle(); });
  EXPECT_TRUE(returns([&] { free(at); }, 1s));
  fakeOpenGate();
  fakeSetEager(true);
  settles.wait();
  memory().settle();
  EXPECT_EQ(findings().size(), 1u);
  EXPECT_TRUE(memory().find(other));
}

TEST_F(WaitingTest, AFreeOverAnOlderDriverHoldsUpNoOtherThread) {
  driver_.record_context_event = nullptr;
  const CuAddress at = allocate(100), other = allocate(100);
  fakeHold("cuCtxSynchronize");
  const auto frees = begin_until("cuCtxSynchronize", 1, [&] { free(at); });
  EXPECT_TRUE(can_find(other));
  fakeLetGo();
  frees.wait();
  settle();
  EXPECT_EQ(counted(Counter::canaries_checked), 2u);
}

// The wait of an older driver is one of those that invalidate captures.
TEST_F(WaitingTest, ACaptureBeginsWhenNothingWaits) {
  driver_.record_context_event = nullptr;
  const CuAddress at = allocate(100);
  fakeHold("cuCtxSynchronize");
  const auto frees = begin_until("cuCtxSynchronize", 1, [&] { free(at); });
  const auto captures = begin([this] {
    EXPECT_TRUE(memory().capture_begins(stream_));
    EXPECT_EQ(cuStreamBeginCapture_v2(stream_, 0), 0);
  });
  EXPECT_EQ(captures.wait_for(50ms), std::future_status::timeout);
  fakeLetGo();
  frees.wait();
  captures.wait();
  CuGraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream_, &graph), 0) << "the capture was invalidated";
  memory().capture_over(stream_);
  settle();
  EXPECT_EQ(counted(Counter::canaries_checked), 1u);
}

class OutOfMemory : public WaitingTest {
 protected:
  void SetUp() override {
    WaitingTest::SetUp();
    fakeLimitMemory(50 * kSlot);
    at_ = allocate(30 * kSlot);
    fakeLaunchGate(stream_);
    free(at_);
    waits_ = begin_until("cuEventQuery", 40, [this] { other_ = allocate(31 * kSlot); });
  }

  CuAddress at_ = 0;
  std::atomic<CuAddress> other_ = 0;
  std::future<void> waits_;
};

TEST_F(OutOfMemory, WaitsForMemoryThatTheProgramHasFreed) {
  EXPECT_EQ(waits_.wait_for(500ms), std::future_status::timeout);
  EXPECT_TRUE(can_find(at_));
  fakeOpenGate();
  fakeSetEager(true);
  waits_.wait();
  EXPECT_NE(other_, 0u);
  EXPECT_EQ(counted(Counter::left_out_memory), 0u);
}

TEST_F(OutOfMemory, DoesNotInvalidateACapture) {
  EXPECT_TRUE(memory().capture_begins(stream_));
  ASSERT_EQ(cuStreamBeginCapture_v2(stream_, 0), 0);
  waits_.wait();
  EXPECT_EQ(other_, 0u);
  EXPECT_EQ(counted(Counter::left_out_memory), 1u);
  CuGraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream_, &graph), 0) << "the capture was invalidated";
  memory().capture_over(stream_);
}

// The driver gives such addresses out again itself.
TEST_F(DeviceMemoryTest, AddressesThatAreGivenBackAreThoseOfTheDriver) {
  fakeLimitMemory(50 * kSlot);
  const CuAddress at = allocate(kSlot);
  free(at);
  settle();
  EXPECT_EQ(allocate(100 * kSlot), 0u) << "and all spare slots are given back";
  EXPECT_EQ(free(at), DeviceMemory::Freed::foreign);
  const CuAddress other = allocate(kSlot);
  free(other);
  memory().context_gone(kContext);
  EXPECT_EQ(free(other), DeviceMemory::Freed::foreign);
  EXPECT_TRUE(findings().empty());
}

class FailedLastLook : public DeviceMemoryTest, public testing::WithParamInterface<const char*> {};

TEST_P(FailedLastLook, LosesNoEventAndNoBuffer) {
  constexpr int unknown = 999, many = 300;
  fakeSetEager(true);
  allocate(100);
  allocate(100);
  memory().settle();
  const int events = fakeCalls("cuEventCreate"), chunks = fakeCalls("cuMemHostAlloc");
  for (int i = 0; i < many; ++i) {
    fakeFail(GetParam(), unknown, 1);
    memory().settle();
  }
  // A batch that was given up has its event until it is asked for again.
  EXPECT_LE(fakeCalls("cuEventCreate"), events + 1);
  EXPECT_EQ(fakeCalls("cuMemHostAlloc"), chunks);
  EXPECT_TRUE(findings().empty());
}

INSTANTIATE_TEST_SUITE_P(Calls, FailedLastLook,
                         testing::Values("cuCtxRecordEvent", "cuStreamWaitEvent",
                                         "cuMemcpyDtoHAsync_v2", "cuEventQuery"));

TEST_F(DeviceMemoryTest, ALiveBlockIsReportedOnce) {
  const CuAddress at = allocate(100);
  fakeLaunchWrite(at, 101, 1, stream_);
  settle();
  settle();
  free(at);
  settle();
  EXPECT_EQ(findings().size(), 1u);
}

}  // namespace
}  // namespace redzone::interpose
