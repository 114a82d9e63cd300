// Memory in the place of guard pages, so that a program survives accesses out of bounds.
#include "interpose/device_memory_fixture.h"

namespace redzone::interpose {
namespace {

class Sinks : public DeviceMemoryTest {
 protected:
  void SetUp() override {
    DeviceMemoryTest::SetUp();
    settings_.on_error = OnError::go_on;
  }
  void write(CuAddress at, std::size_t bytes) {
    ASSERT_EQ(fakeLaunchWrite(at, bytes, 1, stream_), 0);
    ASSERT_EQ(cuStreamSynchronize(stream_), 0) << "the program goes on";
  }
  guard::Finding only() const {
    const auto all = findings();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? guard::Finding() : all[0];
  }
};

TEST_F(Sinks, AWriteAfterABlockIsSeenAtTheEnd) {
  const CuAddress at = allocate(4096);
  write(at + 4096 + 16, 8);
  EXPECT_TRUE(findings().empty());
  settle();
  EXPECT_EQ(only().kind, FindingKind::canary);
  EXPECT_EQ(only().side, Side::after);
  EXPECT_EQ(only().distance_bytes, 17u);
  EXPECT_EQ(only().wrong_bytes, 8u);
  EXPECT_EQ(only().block.ordinal, 0u);
  settle();
  EXPECT_EQ(findings().size(), 1u) << "once";
}

TEST_F(Sinks, AWriteBeforeABlockIsToldFromOneAfterIt) {
  settings_.placement = Placement::guard_before;
  const CuAddress at = allocate(4096);
  write(at - 12, 8);
  settle();
  EXPECT_EQ(only().side, Side::before);
  EXPECT_EQ(only().distance_bytes, 5u);
}

TEST_F(Sinks, WhatIsRightIsNoFinding) {
  const CuAddress first = allocate(4096), second = allocate(std::size_t{3} << 20);
  write(first, 4096);
  write(second, std::size_t{3} << 20);
  settle();
  EXPECT_EQ(free(first, stream_), DeviceMemory::Freed::freed);
  settle();
  EXPECT_TRUE(findings().empty());
}

TEST_F(Sinks, ACheckAfterEachLaunchNamesIt) {
  const CuAddress at = allocate(4096);
  write(at, 4096);
  fakeSetEager(true);
  memory().check_after(launches_.begin({.stream = stream_}, false, 1));
  write(at + 4096, 4);
  memory().check_after(launches_.begin({.stream = stream_}, false, 1));
  EXPECT_EQ(only().launch.ordinal, 2u);
  EXPECT_EQ(only().launches_since_right, 1u);
}

// A use after free reads poison, and its memory stays.
TEST_F(Sinks, NothingThatIsFreedIsUnmapped) {
  settings_.retire = Retire::all;
  const CuAddress at = allocate(4096);
  EXPECT_EQ(free(at, stream_), DeviceMemory::Freed::freed);
  settle();
  EXPECT_TRUE(fakeIsMapped(at, 4096));
  EXPECT_EQ(counted(Counter::slots_retired), 0u);
}

TEST_F(Sinks, WithoutMemoryForOneThereAreGuardPages) {
  fakeFail("cuMemHostAlloc", kCuOutOfMemory, 1);
  const CuAddress at = allocate(4096);
  ASSERT_NE(at, 0u);
  EXPECT_FALSE(fakeIsMapped(at + 4096, 1));
  const CuAddress other = allocate(4096);
  EXPECT_TRUE(fakeIsMapped(other + 4096, 1)) << "it is tried again for the next slot";
}

// Whatever call fails, all that was made for the sink is given back.
TEST_F(Sinks, OneThatCannotBeBuiltLeavesNothing) {
  const auto live = [&](const char* make, const char* drop) {
    return fakeCalls(make) - fakeCalls(drop);
  };
  for (const char* call : {"cuMemCreate", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess"}) {
    fakeReset();
    cuCtxSetCurrent(kContext);
    memory_.reset();
    ASSERT_EQ(cuStreamCreate(&stream_, kCuStreamNonBlocking), 0);
    fakeFail(call, kCuOutOfMemory, 1);
    allocate(4096);
    EXPECT_EQ(live("cuMemHostAlloc", "cuMemFreeHost"), 0) << call;
  }
}

TEST_F(Sinks, AContextTakesItsSinkAlong) {
  allocate(4096);
  memory().context_gone(kContext);
  ASSERT_EQ(cuStreamCreate(&stream_, kCuStreamNonBlocking), 0);
  const CuAddress at = allocate(4096);
  write(at + 4096, 4);
  settle();
  EXPECT_EQ(only().side, Side::after);
}

}  // namespace
}  // namespace redzone::interpose
