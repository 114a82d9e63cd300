// Streams that are held: when they are let go, and that a seed decides which.
#include "interpose/stream_holds.h"

#include <gtest/gtest.h>

#include <set>

#include "interpose/device_memory_fixture.h"

namespace redzone::interpose {
namespace {

constexpr int kLaunches = 200;

class Holds : public DeviceMemoryTest {
 protected:
  // Which of the launches found their stream held.
  std::set<int> held(std::uint64_t seed, LaunchMode mode = LaunchMode::held) {
    settings_.launch = mode;
    settings_.seed = seed;
    StreamHolds holds(driver_, settings_, recorder_);
    std::set<int> out;
    for (int i = 0; i < kLaunches; ++i) {
      const int before = fakeCalls("cuLaunchHostFunc");
      holds.before_launch(stream_);
      if (fakeCalls("cuLaunchHostFunc") != before) out.insert(i);
      holds.release();
      EXPECT_EQ(cuStreamSynchronize(stream_), 0);
    }
    return out;
  }
};

TEST_F(Holds, ASeedDecidesWhich) {
  const auto one = held(1);
  EXPECT_FALSE(one.empty());
  EXPECT_LT(one.size(), kLaunches / 2u);
  EXPECT_EQ(counted(Counter::streams_held), one.size());
  EXPECT_EQ(held(1), one);
  EXPECT_NE(held(2), one);
}

TEST_F(Holds, OtherModesHoldNothing) {
  EXPECT_TRUE(held(1, LaunchMode::async).empty());
  EXPECT_TRUE(held(1, LaunchMode::blocking).empty());
}

// The device does not get on by itself here: what was put into streams stays there.
TEST_F(Holds, AreFew) {
  settings_.launch = LaunchMode::held;
  StreamHolds holds(driver_, settings_, recorder_);
  for (int i = 0; i < kLaunches; ++i) holds.before_launch(stream_);
  EXPECT_EQ(fakeCalls("cuLaunchHostFunc"), StreamHolds::kMostHolds);
  holds.release();
  EXPECT_EQ(cuStreamSynchronize(stream_), 0);
  for (int i = 0; i < kLaunches; ++i) holds.before_launch(stream_);
  EXPECT_EQ(fakeCalls("cuLaunchHostFunc"), 2 * StreamHolds::kMostHolds);
  EXPECT_EQ(cuStreamSynchronize(stream_), 0) << "they end without a release as well";
}

TEST_F(Holds, ADriverThatRefusesThemIsUsedWithoutThem) {
  settings_.launch = LaunchMode::held;
  StreamHolds holds(driver_, settings_, recorder_);
  fakeFail("cuLaunchHostFunc", kCuNotSupported, kLaunches);
  for (int i = 0; i < kLaunches; ++i) holds.before_launch(stream_);
  EXPECT_EQ(counted(Counter::streams_held), 0u);
}

}  // namespace
}  // namespace redzone::interpose
