// Capture and replay on the host device.
#include <gtest/gtest.h>
#include <redzone/kernel.h>

#include <set>

#include "tests/device/append_kernel.h"
#include "tests/device/on_device.h"

namespace redzone::device {
namespace {

using namespace testing;

class Graphs : public ::testing::Test {
 protected:
  void open(std::uint64_t seed) {
    log.reset();
    device = host_device(seed, 4);
    log.emplace(*device, 64);
    zero(*device, *log);
    ASSERT_TRUE(device->synchronize());
  }
  void add(int stream, int value) {
    ASSERT_TRUE(launch(*device, stream, "append", append, {{1}, {1}}, log->data(), value));
  }
  std::vector<int> ran() {
    EXPECT_TRUE(device->synchronize());
    return read(*device, log->data() + 1, log->data()[0]);
  }
  // Captures a graph that writes these values one after the other.
  int chain(int stream, std::initializer_list<int> values) {
    EXPECT_TRUE(device->begin_capture(stream));
    for (const int v : values) add(stream, v);
    const auto graph = device->end_capture(stream);
    EXPECT_TRUE(graph);
    return graph.value_or(-1);
  }

  std::unique_ptr<Device> device;
  std::optional<Buffer<int>> log;
};

TEST_F(Graphs, NothingRunsAtTheCapture) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    open(seed);
    const int graph = chain(0, {1, 2});
    EXPECT_EQ(ran(), (std::vector<int>{}));
    add(0, 3);
    ASSERT_TRUE(device->launch_graph(0, graph));
    add(0, 4);
    ASSERT_TRUE(device->launch_graph(0, graph));
    EXPECT_EQ(ran(), (std::vector<int>{3, 1, 2, 4, 1, 2}));
  }
}

TEST_F(Graphs, ArgumentsAreThoseOfTheCapture) {
  open(0);
  int value = 5;
  ASSERT_TRUE(device->begin_capture(0));
  add(0, value);
  value = 6;
  const auto graph = device->end_capture(0);
  ASSERT_TRUE(graph);
  ASSERT_TRUE(device->launch_graph(0, *graph));
  EXPECT_EQ(ran(), (std::vector<int>{5}));
}

TEST_F(Graphs, BranchesRunInAnyOrderAndJoin) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    open(seed);
    ASSERT_TRUE(device->begin_capture(1));
    add(1, 1);
    ASSERT_TRUE(device->wait(2, 1));
    add(1, 2);
    add(2, 3);
    ASSERT_TRUE(device->wait(1, 2));
    add(1, 4);
    const auto graph = device->end_capture(1);
    ASSERT_TRUE(graph);
    ASSERT_TRUE(device->launch_graph(3, *graph));
    orders.insert(ran());
  }
  EXPECT_EQ(orders, (std::set<std::vector<int>>{{1, 2, 3, 4}, {1, 3, 2, 4}}));
}

TEST_F(Graphs, InterleaveWithOtherStreams) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    open(seed);
    const int graph = chain(0, {1, 2});
    ASSERT_TRUE(device->launch_graph(0, graph));
    add(1, 3);
    orders.insert(ran());
  }
  EXPECT_EQ(orders, (std::set<std::vector<int>>{{1, 2, 3}, {1, 3, 2}, {3, 1, 2}}));
}

TEST_F(Graphs, LaunchesOfOneGraphAreInOrderOnAnyStreams) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    open(seed);
    const int graph = chain(0, {1, 2, 3});
    for (const int stream : {0, 1, 2, 1}) ASSERT_TRUE(device->launch_graph(stream, graph));
    EXPECT_EQ(ran(), (std::vector<int>{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3})) << seed;
  }
}

TEST_F(Graphs, AGraphMayBePartOfAnother) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    open(seed);
    const int inner = chain(0, {1, 2});
    ASSERT_TRUE(device->begin_capture(0));
    add(0, 3);
    ASSERT_TRUE(device->launch_graph(0, inner));
    add(0, 4);
    const auto outer = device->end_capture(0);
    ASSERT_TRUE(outer);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(device->launch_graph(0, *outer));
    EXPECT_EQ(ran(), (std::vector<int>{3, 1, 2, 4, 3, 1, 2, 4}));
  }
}

TEST_F(Graphs, OtherStreamsGoOnDuringACapture) {
  open(0);
  ASSERT_TRUE(device->begin_capture(0));
  add(0, 1);
  add(1, 2);
  const auto graph = device->end_capture(0);
  ASSERT_TRUE(graph);
  EXPECT_EQ(ran(), (std::vector<int>{2}));
}

TEST_F(Graphs, WhatCannotBeCapturedIsRefusedWithTheDriversCode) {
  open(0);
  ASSERT_TRUE(device->begin_capture(0));
  ASSERT_TRUE(device->wait(1, 0));
  const auto unjoined = device->end_capture(0);
  ASSERT_FALSE(unjoined);
  EXPECT_EQ(unjoined.error().kind, Failure::Kind::unsupported);
  EXPECT_EQ(unjoined.error().code, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED");

  ASSERT_TRUE(device->begin_capture(0));
  EXPECT_FALSE(device->wait(0, 1));
  const auto crossed = device->end_capture(0);
  ASSERT_FALSE(crossed);
  EXPECT_EQ(crossed.error().code, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION");

  add(0, 7);
  EXPECT_EQ(ran(), (std::vector<int>{7}));
}

TEST_F(Graphs, AnOpenCaptureEndsWithTheTrial) {
  open(0);
  ASSERT_TRUE(device->begin_capture(0));
  add(0, 1);
  ASSERT_TRUE(device->begin_trial({Launch::async, 0, 1}));
  add(0, 2);
  EXPECT_EQ(ran(), (std::vector<int>{2}));
}

}  // namespace
}  // namespace redzone::device
