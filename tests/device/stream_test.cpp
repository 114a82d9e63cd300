// Streams: order, waits, blocked launches, and the seeded delay.
#include <gtest/gtest.h>
#include <redzone/kernel.h>

#include <set>

#include "tests/device/append_kernel.h"
#include "tests/device/on_device.h"

namespace redzone::device {
namespace {

using namespace testing;

// What three operations on each of two streams wrote, and how many had run before synchronize().
struct Ran {
  std::vector<int> log;
  int before_synchronize = 0;
};

Ran two_streams(std::uint64_t seed, bool wait) {
  auto device = host_device(seed, 2);
  Buffer<int> log(*device, 10);
  zero(*device, log);
  EXPECT_TRUE(device->wait(1, 0));
  EXPECT_TRUE(device->synchronize());
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(launch(*device, 0, "append", append, {{1}, {1}}, log.data(), 1 + i));
  if (wait) {
    EXPECT_TRUE(device->wait(1, 0));
  }
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(launch(*device, 1, "append", append, {{1}, {1}}, log.data(), 11 + i));
  Ran ran;
  ran.before_synchronize = log.data()[0];
  EXPECT_TRUE(device->synchronize());
  ran.log = read(*device, log.data() + 1, log.data()[0]);
  return ran;
}

TEST(Streams, EachIsInOrderAndSeedsInterleaveThem) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto log = two_streams(seed, false).log;
    ASSERT_EQ(log.size(), 6u);
    std::vector<int> first, second;
    for (int v : log) (v < 10 ? first : second).push_back(v);
    EXPECT_EQ(first, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(second, (std::vector<int>{11, 12, 13}));
    EXPECT_EQ(two_streams(seed, false).log, log) << "seed " << seed << " is not reproducible";
    orders.insert(log);
  }
  EXPECT_TRUE(orders.contains({1, 2, 3, 11, 12, 13}));
  EXPECT_GT(orders.size(), 4u);
}

TEST(Streams, AWaitOrdersThem) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    EXPECT_EQ(two_streams(seed, true).log, (std::vector<int>{1, 2, 3, 11, 12, 13})) << seed;
}

TEST(Streams, SeedsMeetBothExtremesOfDelay) {
  std::set<int> seen;
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    seen.insert(two_streams(seed, false).before_synchronize);
  EXPECT_TRUE(seen.contains(0));
  EXPECT_TRUE(seen.contains(6));
  EXPECT_GT(seen.size(), 2u);
  EXPECT_EQ(two_streams(0, false).before_synchronize, 0);
}

TEST(Streams, NothingRunsWhileHeld) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    auto device = host_device(seed, 2);
    Buffer<int> log(*device, 300);
    zero(*device, log);
    ASSERT_TRUE(device->synchronize());
    ASSERT_TRUE(device->hold());
    for (int i = 0; i < 200; ++i)
      ASSERT_TRUE(launch(*device, 0, "append", append, {{1}, {1}}, log.data(), i));
    EXPECT_EQ(log.data()[0], 0);
    ASSERT_TRUE(device->open());
    for (int i = 200; i < 250; ++i)
      ASSERT_TRUE(launch(*device, 0, "append", append, {{1}, {1}}, log.data(), i));
    ASSERT_TRUE(device->synchronize());
    ASSERT_EQ(log.data()[0], 250);
    for (int i = 0; i < 250; ++i) ASSERT_EQ(log.data()[1 + i], i);
  }
}

TEST(Streams, SynchronizeOpens) {
  auto device = host_device();
  Buffer<int> log(*device, 10);
  zero(*device, log);
  ASSERT_TRUE(device->hold());
  ASSERT_TRUE(launch(*device, 0, "append", append, {{1}, {1}}, log.data(), 5));
  ASSERT_TRUE(device->synchronize());
  EXPECT_EQ(log.data()[0], 1);
}

TEST(Streams, ArgumentsAreCopiedAtTheLaunch) {
  auto device = host_device();
  Buffer<int> log(*device, 10);
  zero(*device, log);
  ASSERT_TRUE(device->hold());
  int value = 4;
  int* pointer = log.data();
  void* pointers[] = {&pointer, &value};
  const std::size_t sizes[] = {sizeof pointer, sizeof value};
  ASSERT_TRUE(device->launch(0, kernel_ref("append", append), {{1}, {1}}, {pointers, sizes, 2}));
  value = 9;
  pointer = nullptr;
  ASSERT_TRUE(device->synchronize());
  EXPECT_EQ(log.data()[1], 4);
}

TEST(Streams, ANewTrialForgetsWhatWasEnqueued) {
  auto device = host_device();
  Buffer<int> log(*device, 10);
  zero(*device, log);
  ASSERT_TRUE(device->synchronize());
  ASSERT_TRUE(launch(*device, 0, "append", append, {{1}, {1}}, log.data(), 5));
  ASSERT_TRUE(device->begin_trial({}).has_value());
  ASSERT_TRUE(device->synchronize());
  EXPECT_EQ(log.data()[0], 0);
}

TEST(Streams, FillAndCheckAreInStreamOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto device = host_device(seed);
    Buffer<int> log(*device, 10);
    zero(*device, log);
    BufferJob job = log.job(DType::i32);
    job.verify_unchanged = true;
    BufferCheck before = {}, after = {};
    ASSERT_TRUE(device->check(0, {&job, 1}, &before));
    ASSERT_TRUE(launch(*device, 0, "append", append, {{1}, {1}}, log.data(), 5));
    ASSERT_TRUE(device->check(0, {&job, 1}, &after));
    ASSERT_TRUE(device->synchronize());
    EXPECT_EQ(before.changed, 0u);
    EXPECT_EQ(after.changed, 2u);
  }
}

TEST(Streams, HandlesAreDistinctAndNotNull) {
  auto device = host_device(0, 4);
  std::set<void*> handles;
  for (int i = 0; i < 4; ++i) handles.insert(device->stream_handle(i));
  EXPECT_EQ(handles.size(), 4u);
  EXPECT_FALSE(handles.contains(nullptr));
}

}  // namespace
}  // namespace redzone::device
