// The gate and its watchdog with a fake driver; scripts/sanitize checks them for data races.
// gate_test.cpp tests the effect on the streams of a GPU.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "device/cuda/gate.h"

namespace redzone::device::cuda {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The last arguments of cuStreamWaitValue32: what a stream would wait for.
struct Held {
  std::uint32_t* word = nullptr;
  std::uint32_t until = 0;

  bool let_go() const { return std::atomic_ref(*word).load() >= until; }
};

class GateWatchdog : public testing::Test {
 protected:
  void SetUp() override {
    held_ = {};
    api_.host_alloc = [](void** at, std::size_t bytes, unsigned) {
      *at = std::calloc(1, bytes);
      return CUDA_SUCCESS;
    };
    api_.host_free = [](void* at) {
      std::free(at);
      return CUDA_SUCCESS;
    };
    api_.host_device_pointer = [](CUdeviceptr* device, void* host, unsigned) {
      *device = reinterpret_cast<CUdeviceptr>(host);
      return CUDA_SUCCESS;
    };
    api_.stream_wait_value = [](CUstream, CUdeviceptr word, cuuint32_t until, unsigned) {
      held_ = {reinterpret_cast<std::uint32_t*>(word), until};
      return CUDA_SUCCESS;
    };
    make(HoldTime::fixed);
  }
  void make(HoldTime hold_time) {
    auto gate = Gate::create(api_, hold_time);
    ASSERT_TRUE(gate);
    gate_ = std::move(*gate);
  }
  Gate& gate() { return *gate_; }
  void close() { ASSERT_TRUE(gate_->close(streams_)); }
  static const Held& held() { return held_; }

 private:
  static inline Held held_;
  DriverApi api_;
  const std::vector<CUstream> streams_{nullptr};
  std::unique_ptr<Gate> gate_;
};

TEST_F(GateWatchdog, OpensWhatIsLeftClosed) {
  close();
  const auto until = steady_clock::now() + std::chrono::seconds(60);
  while (!held().let_go() && steady_clock::now() < until)
    std::this_thread::sleep_for(milliseconds(5));
  EXPECT_TRUE(held().let_go());
  // Opened early, but not permanently.
  EXPECT_TRUE(gate().closed());
  gate().open();
  close();
  gate().open();
  EXPECT_TRUE(held().let_go());
}

TEST_F(GateWatchdog, EachOpeningLetsItsStreamsGo) {
  for (int i = 0; i < 1000; ++i) {
    close();
    gate().open();
    ASSERT_TRUE(held().let_go());
  }
}

TEST_F(GateWatchdog, MayOpenAtTheSameMoment) {
  for (const auto early : {milliseconds(1), milliseconds(0), milliseconds(-1)}) {
    close();
    std::this_thread::sleep_for(kLongestHold - early);
    gate().open();
    ASSERT_TRUE(held().let_go());
  }
}

TEST_F(GateWatchdog, OpensOneThatLearnsAgainAndAgain) {
  make(HoldTime::learned);
  for (int i = 0; i < 8; ++i) {
    close();
    const auto until = steady_clock::now() + std::chrono::seconds(60);
    while (!held().let_go() && steady_clock::now() < until)
      std::this_thread::sleep_for(milliseconds(1));
    ASSERT_TRUE(held().let_go());
    gate().open();
  }
  EXPECT_EQ(gate().hold_limit(), HoldLimit::kShortest);
  // Opened in time, unless the machine is so slow that this one runs out, too.
  gate().reset();
  close();
  std::this_thread::sleep_for(milliseconds(3));
  gate().open();
  EXPECT_TRUE(gate().hold_limit() > HoldLimit::kShortest || gate().expired());
}

TEST_F(GateWatchdog, OneThatDoesNotLearnKeepsItsLimit) {
  gate().reset();
  close();
  const auto until = steady_clock::now() + std::chrono::seconds(60);
  while (!gate().expired() && steady_clock::now() < until)
    std::this_thread::sleep_for(milliseconds(5));
  gate().open();
  EXPECT_EQ(gate().hold_limit(), kLongestHold);
}

TEST_F(GateWatchdog, PausesAndGoesOn) {
  close();
  {
    const GatePause pause(gate());
    EXPECT_FALSE(gate().closed());
    EXPECT_TRUE(held().let_go());
  }
  EXPECT_TRUE(gate().closed());
}

}  // namespace
}  // namespace redzone::device::cuda
