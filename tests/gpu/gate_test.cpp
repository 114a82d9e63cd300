// Blocked launches: nothing runs early, and nothing hangs.
#include "device/cuda/gate.h"

#include <chrono>

#include "gpu/gpu_fixture.h"
#include "gpu/kernels.h"

namespace redzone::gpu_test {
namespace {

using Clock = std::chrono::steady_clock;

class GpuGate : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (std::uint32_t*& counter : counters_) {
      counter = mapped_word();
      ASSERT_NE(counter, nullptr);
    }
  }
  // The number of kernels that have run on the stream.
  std::uint32_t count(int stream = 0) const {
    return *const_cast<volatile std::uint32_t*>(counters_[stream]);
  }
  void enqueue(int stream, const KernelRef& kernel) {
    ASSERT_TRUE(ok(launch(device(), stream, kernel, kOneThread, counters_[stream])));
  }

 private:
  std::uint32_t* counters_[2] = {};
};

TEST_F(GpuGate, NothingRunsUntilOpened) {
  enqueue(0, count_kernel());  // loads the kernel
  ASSERT_TRUE(ok(device().synchronize()));
  ASSERT_EQ(count(), 1u);

  begin(Launch::gated, 2);
  const auto start = Clock::now();
  ASSERT_TRUE(ok(device().hold()));
  const auto launches = static_cast<std::uint32_t>(device().hold_capacity());
  ASSERT_EQ(launches, 900u);
  for (std::uint32_t i = 0; i < launches; ++i) enqueue(0, count_kernel());
  enqueue(1, count_kernel());
  const std::uint32_t seen[] = {count(0), count(1)};
  // On a very busy machine the watchdog may already have released the launches; then nothing can be
  // checked.
  if (Clock::now() - start < device::cuda::HoldLimit::kShortest) {
    EXPECT_EQ(seen[0], 1u);
    EXPECT_EQ(seen[1], 0u);
  }
  ASSERT_TRUE(ok(device().open()));
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(count(0), launches + 1);
  EXPECT_EQ(count(1), 1u);
}

TEST_F(GpuGate, CanBeClosedAgain) {
  begin(Launch::gated);
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(ok(device().hold()));
    enqueue(0, count_kernel());
    ASSERT_TRUE(ok(device().open()));
  }
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(count(), 10u);
}

TEST_F(GpuGate, SynchronizeOpens) {
  begin(Launch::gated);
  ASSERT_TRUE(ok(device().hold()));
  enqueue(0, count_kernel());
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(count(), 1u);
}

TEST_F(GpuGate, FirstLaunchOfAKernelDoesNotHang) {
  begin(Launch::gated);
  ASSERT_TRUE(ok(device().hold()));
  enqueue(0, count_twin_kernel());
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(count(), 1u);
}

TEST_F(GpuGate, NewMemoryDoesNotHang) {
  begin(Launch::gated);
  ASSERT_TRUE(ok(device().hold()));
  enqueue(0, count_kernel());
  EXPECT_NE(acquire(123 << 20).base, nullptr);
  EXPECT_NE(acquire(12345, Allocator::plain).base, nullptr);
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(count(), 1u);
}

TEST_F(GpuGate, FullQueueDoesNotHang) {
  begin(Launch::gated);
  ASSERT_TRUE(ok(device().hold()));
  for (int i = 0; i < 3000; ++i) enqueue(0, count_kernel());
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(count(), 3000u);
}

TEST_F(GpuGate, TargetThatWaitsIsLetThrough) {
  begin(Launch::gated);
  ASSERT_TRUE(ok(device().hold()));
  enqueue(0, count_kernel());
  EXPECT_TRUE(wait_for_stream(device().stream_handle(0)));
  EXPECT_EQ(count(), 1u);
}

TEST_F(GpuGate, BrokenOffTrialLeavesNothingBehind) {
  begin(Launch::gated);
  ASSERT_TRUE(ok(device().hold()));
  enqueue(0, count_kernel());
  begin();  // without synchronize()
  EXPECT_EQ(count(), 1u);
}

}  // namespace
}  // namespace redzone::gpu_test
