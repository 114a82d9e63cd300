// Copies in stream order, and the copies that are refused.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/device/on_device.h"

namespace redzone::device {
namespace {

using testing::Buffer;
using testing::host_device;
using testing::zero;

TEST(Copy, ReadsItsSourceWhenItRuns) {
  auto device = host_device();
  auto host = device->pinned_memory().acquire(64);
  ASSERT_TRUE(host.has_value());
  auto* source = reinterpret_cast<int*>(host->base);
  Buffer<int> to(*device, 1);
  source[0] = 1;
  ASSERT_TRUE(device->hold());
  ASSERT_TRUE(device->copy(0, to.data(), source, 4));
  source[0] = 2;
  ASSERT_TRUE(device->synchronize());
  EXPECT_EQ(to.data()[0], 2);
  device->pinned_memory().release(*host);
}

TEST(Copy, IsInOrderWithWhatIsOnItsStream) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto device = host_device(seed);
    Buffer<int> a(*device, 100), b(*device, 100, Placement::guard_before, Allocator::plain);
    zero(*device, a);
    ASSERT_TRUE(device->copy(0, b.data(), a.data(), 400));
    BufferJob job = a.job(DType::i32);
    job.poison = 7;
    ASSERT_TRUE(device->fill(0, {&job, 1}));
    ASSERT_TRUE(device->synchronize());
    EXPECT_EQ(b.data()[99], 0);
    EXPECT_EQ(a.data()[99], 7);
  }
}

TEST(Copy, RefusesPageableMemoryAndLives) {
  auto device = host_device();
  Buffer<int> buffer(*device, 4);
  int pageable[4] = {};
  for (const auto& status : {device->copy(0, buffer.data(), pageable, 16),
                             device->copy(0, pageable, buffer.data(), 16)}) {
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().kind, Failure::Kind::launch_refused);
    EXPECT_EQ(status.error().code, "target-error");
  }
  EXPECT_TRUE(device->copy(0, pageable, pageable, 0)) << "nothing is copied";
  EXPECT_TRUE(device->synchronize());
}

TEST(Memset, SetsItsBytesInOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto device = host_device(seed);
    Buffer<int> a(*device, 100), b(*device, 100);
    zero(*device, a);
    ASSERT_TRUE(device->memset(0, a.data() + 1, 0x11, 8));
    ASSERT_TRUE(device->copy(0, b.data(), a.data(), 400));
    ASSERT_TRUE(device->memset(0, a.data(), 0xff, 400));
    ASSERT_TRUE(device->synchronize());
    EXPECT_EQ(b.data()[0], 0);
    EXPECT_EQ(b.data()[1], 0x11111111);
    EXPECT_EQ(b.data()[2], 0x11111111);
    EXPECT_EQ(b.data()[3], 0);
    EXPECT_EQ(a.data()[99], -1);
  }
}

TEST(Memset, RefusesPageableMemoryAndLives) {
  auto device = host_device();
  int pageable = 1;
  const auto refused = device->memset(0, &pageable, 0, sizeof pageable);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "target-error");
  EXPECT_TRUE(device->memset(0, &pageable, 0, 0)) << "nothing is set";
  EXPECT_TRUE(device->synchronize());
  EXPECT_EQ(pageable, 1);
}

// Sets twice as many bytes as the buffer has.
void set_too_much() {
  auto device = host_device();
  Buffer<int> y(*device, 4);
  device->watch({y.range("y")});
  static_cast<void>(device->memset(0, y.data(), 0, 32));
  static_cast<void>(device->synchronize());
}

TEST(Memset, OutOfBoundsIsAFaultOfTheMemset) {
  EXPECT_EXIT(set_too_much(), ::testing::ExitedWithCode(kFaultExit), "y in memset");
}

// Copies twice as many bytes as the buffer has.
void copy_too_much() {
  auto device = host_device();
  Buffer<int> x(*device, 4);
  Buffer<int> y(*device, 4);
  device->watch({x.range("x"), y.range("y")});
  static_cast<void>(device->copy(0, y.data(), x.data(), 32));
  static_cast<void>(device->synchronize());
}

TEST(Copy, OutOfBoundsIsAFaultOfTheCopy) {
  EXPECT_EXIT(copy_too_much(), ::testing::ExitedWithCode(kFaultExit), "(x|y) in copy");
}

TEST(PlainMemory, WhatLiesBeforeItIsClosed) {
  auto device = open_host_device();
  auto region = device->memory(Allocator::plain).acquire(4096);
  ASSERT_TRUE(region.has_value());
  volatile std::byte* const far = region->base - (std::size_t{8} << 30);
  EXPECT_EXIT(far[0] = std::byte{1}, ::testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace redzone::device
