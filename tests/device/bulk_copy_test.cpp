// Tensor bulk copies on the host device, with the kernels of the GPU's test.
#include "tests/device/bulk_copy.h"

#include <gtest/gtest.h>

#include "core/trial.h"
#include "tests/device/bulk_copy_kernels.cu"
#include "tests/device/in_child.h"

namespace redzone::device::testing {
namespace {

TEST(BulkCopy, TilesAreAsDescribed) {
  tiles_are_as_described(*open_host_device());
}
TEST(BulkCopy, NanFillsWhatIsOutside) {
  nan_fills_what_is_outside(*open_host_device());
}
TEST(BulkCopy, RefusedEncodesLeaveTheMap) {
  refused_encodes_leave_the_map(*open_host_device());
}

// 16 bf16 elements of `buffer`; the descriptor declares `dim` elements.
TileCase line(const Buffer<std::uint16_t>& buffer, std::uint64_t dim) {
  TileCase c;
  c.descriptor.address = reinterpret_cast<std::uintptr_t>(buffer.data());
  c.descriptor.dims[0] = dim;
  c.descriptor.box[0] = 16;
  return c;
}

Failure failure_of(Device& device, const KernelRef& kernel, const TileCase& c,
                   const TensorMap& map) {
  Buffer<std::byte> to(device, 2 * static_cast<std::int64_t>(c.tile_bytes()));
  launch_tiles(device, kernel, c, map, to.data());
  const auto done = device.synchronize();
  EXPECT_FALSE(done.has_value());
  return done ? Failure{} : done.error();
}

TEST(BulkCopy, AMapThatWasNeverEncodedIsAFault) {
  auto device = host_device();
  Buffer<std::uint16_t> x(*device, 16);
  const Failure failure = failure_of(*device, copy_tiles_kernel(1), line(x, 16), TensorMap{});
  EXPECT_EQ(failure.kind, Failure::Kind::fault);
  EXPECT_EQ(failure.code, "invalid-tensor-map");
  // A fault ends the trial but not the device.
  tiles_are_as_described(*device);
}

TEST(BulkCopy, ACopyOfAnotherRankIsAFault) {
  auto device = host_device();
  Buffer<std::uint16_t> x(*device, 16);
  const TileCase c = line(x, 16);
  TensorMap map;
  ASSERT_EQ(device->encode(c.descriptor, map), 0);
  EXPECT_EQ(failure_of(*device, copy_tiles_kernel(2), c, map).code, "invalid-bulk-copy");
}

TEST(BulkCopy, ATileThatBeginsBetweenUnitsIsAnIllegalInstruction) {
  auto device = host_device();
  Buffer<float> x(*device, 8);
  const TileCase c = between_units(reinterpret_cast<std::uintptr_t>(x.data()));
  TensorMap map;
  ASSERT_EQ(device->encode(c.descriptor, map), 0);
  EXPECT_EQ(failure_of(*device, copy_tiles_kernel(1), c, map).code,
            "CUDA_ERROR_ILLEGAL_INSTRUCTION");
}

TEST(BulkCopy, ABarrierThatIsNotAlignedIsAFault) {
  auto device = host_device();
  Buffer<std::uint16_t> x(*device, 16);
  EXPECT_EQ(failure_of(*device, misplace_barrier_kernel(), line(x, 16), TensorMap{}).code,
            "CUDA_ERROR_MISALIGNED_ADDRESS");
}

TEST(BulkCopy, ABlockThatDoesNotWaitIsAFault) {
  auto device = host_device();
  Buffer<std::uint16_t> x(*device, 16);
  const TileCase c = line(x, 16);
  TensorMap map;
  ASSERT_EQ(device->encode(c.descriptor, map), 0);
  EXPECT_EQ(failure_of(*device, leave_tile_kernel(), c, map).code, "bulk-copy-in-flight");
}

TEST(BulkCopy, AMapThatIsLargerThanItsBufferMeetsTheHole) {
  const Ended ended = in_child([](Device& device) {
    Buffer<std::uint16_t> x(device, 8), to(device, 64);
    device.watch({x.range("x")});
    const TileCase c = line(x, 16);
    TensorMap map;
    ASSERT_EQ(device.encode(c.descriptor, map), 0);
    launch_tiles(device, copy_tiles_kernel(1), c, map, reinterpret_cast<std::byte*>(to.data()));
    (void)device.synchronize();
  });
  expect_fault(ended, SIGSEGV);
  EXPECT_STREQ(ended.box.fault.buffer, "x");
  EXPECT_EQ(ended.box.fault.access, static_cast<std::uint32_t>(Access::read));
  EXPECT_EQ(ended.box.fault.side, static_cast<std::uint32_t>(Side::after));
  EXPECT_STREQ(ended.box.kernel, "copy_tiles");
}

TEST(BulkCopy, WhatIsNotEmulatedIsUnsupported) {
  auto device = host_device();
  tma::Descriptor d;
  d.rank = 3;
  d.strides = {64, 64};
  d.box = {16, 1, 1, 1, 1};
  d.dims = {16, 1, 1, 1, 1};
  TensorMap map;
  EXPECT_EQ(device->encode(d, map), 0);
  d.swizzle = tma::Swizzle::b128;  // wider than the row; the padding is not documented
  auto answer = device->encode(d, map);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Failure::Kind::unsupported);
  d.swizzle = tma::Swizzle::none;
  d.interleave = tma::Interleave::b16;
  EXPECT_FALSE(device->encode(d, map).has_value());
}

}  // namespace
}  // namespace redzone::device::testing
