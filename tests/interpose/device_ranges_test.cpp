// Copies and memsets that reach beyond the block that they begin in, or touch a freed one.
#include <rapidcheck.h>

#include <cstring>

#include "interpose/device_memory_fixture.h"

namespace redzone::interpose {
namespace {

class DeviceRanges : public DeviceMemoryTest {
 protected:
  void touch(CuAddress at, std::size_t bytes, Access access = Access::read) {
    memory().check_range({at, bytes, access, "cuMemcpyDtoH"});
  }
  guard::Finding only() const {
    const auto all = findings();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? guard::Finding() : all[0];
  }
  // Each is made at the same place of this program, and so a repeat.
  std::uint64_t times_found() const {
    std::uint64_t out = 0;
    for (const auto& finding : findings()) out += finding.times;
    return out;
  }
};

TEST_F(DeviceRanges, WhatIsInABlockIsRight) {
  const CuAddress at = allocate(1000);
  touch(at, 1000);
  touch(at + 999, 1);
  touch(at + 500, 0);
  touch(at + 1000, 0);
  touch(1, 100);  // no address of the guard
  EXPECT_TRUE(findings().empty());
}

TEST_F(DeviceRanges, OneThatEndsBehindItsBlockIsReportedOnce) {
  const CuAddress at = allocate(1000), other = allocate(1000);
  for (int i = 0; i < 2; ++i) touch(at + 10, 1000);
  const auto finding = only();
  EXPECT_EQ(finding.kind, FindingKind::range);
  EXPECT_EQ(finding.access, Access::read);
  EXPECT_EQ(finding.side, Side::after);
  EXPECT_EQ(finding.address, at + 1000);
  EXPECT_EQ(finding.distance_bytes, 1u);
  EXPECT_EQ(finding.block.ordinal, 1u);
  EXPECT_EQ(finding.call, "cuMemcpyDtoH");
  touch(other, 1001);
  EXPECT_EQ(times_found(), 2u);
}

TEST_F(DeviceRanges, OneThatBeginsBesideABlock) {
  settings_.placement = Placement::guard_before;
  const CuAddress at = allocate(1000);
  touch(at + 1003, 1);
  EXPECT_EQ(only().side, Side::after);
  EXPECT_EQ(only().distance_bytes, 4u);
}

TEST_F(DeviceRanges, OneThatBeginsBeforeABlock) {
  const CuAddress at = allocate(1000);
  touch(at - 8, 16);
  EXPECT_EQ(only().side, Side::before);
  EXPECT_EQ(only().distance_bytes, 8u);
}

TEST_F(DeviceRanges, TheCanariesThatAWriteDirtiesAreNotASecondFinding) {
  const CuAddress at = allocate(1000);
  touch(at, 1004, Access::write);
  std::memset(reinterpret_cast<void*>(at + 1000), 1, 4);
  EXPECT_EQ(free(at), DeviceMemory::Freed::freed);
  settle();
  EXPECT_EQ(only().kind, FindingKind::range);
}

TEST_F(DeviceRanges, AReadSaysNothingOfTheCanaries) {
  const CuAddress at = allocate(1000);
  touch(at, 1004);
  cuCtxSynchronize();
  std::memset(reinterpret_cast<void*>(at + 1000), 1, 4);
  EXPECT_EQ(free(at), DeviceMemory::Freed::freed);
  settle();
  EXPECT_EQ(findings().size(), 2u);
}

TEST_F(DeviceRanges, AFreedBlock) {
  const CuAddress at = allocate(1000);
  EXPECT_EQ(free(at, stream_), DeviceMemory::Freed::freed);
  touch(at + 4, 8, Access::write);
  const auto finding = only();
  EXPECT_EQ(finding.kind, FindingKind::after_free);
  EXPECT_EQ(finding.side, Side::inside);
  EXPECT_EQ(finding.access, Access::write);
  EXPECT_TRUE(finding.block.freed);
}

TEST_F(DeviceRanges, TheLargestRangeIsReportedToo) {
  const CuAddress at = allocate(1000);
  touch(at, SIZE_MAX);
  EXPECT_EQ(only().side, Side::after);
}

// A range is right if and only if the block has all of its bytes.
TEST_F(DeviceRanges, NoneIsReportedThatTheBlockHasAndEachOtherIs) {
  fakeSetEager(true);  // no free waits for the device
  EXPECT_TRUE(rc::check("any range that begins in a block", [&] {
    const auto bytes = *rc::gen::inRange<std::size_t>(1, 5000);
    const auto from = *rc::gen::inRange<std::size_t>(0, bytes);
    const auto length = *rc::gen::inRange<std::size_t>(1, 6000);
    const auto before = times_found();
    const CuAddress at = allocate(bytes);
    RC_ASSERT(at != 0);
    touch(at + from, length);
    RC_ASSERT(times_found() == before + (from + length > bytes ? 1 : 0));
    // In the order of a stream: cuMemFree() waits for a device that has nothing to do here.
    free(at, stream_);
  }));
}

}  // namespace
}  // namespace redzone::interpose
