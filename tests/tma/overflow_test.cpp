#include "tma/overflow.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/tma/samples.h"

namespace redzone::tma {
namespace {

// Keys of sgl-project/sglang#13775: 192 x 131072 x 128 elements of bf16.
Descriptor long_context(std::uint64_t stride) {
  Descriptor d = testing::attention();
  d.rank = 4;
  d.dims = {192, 131072, 128, 1, 1};
  d.strides = {49152, 384, stride, 0};
  return d;
}

TEST(Overflow, EveryWayToLoseTheUpperBits) {
  const std::int64_t elements = 192LL * 131072 * 128;
  const auto bytes = static_cast<std::uint64_t>(elements * 2);
  const auto wrapped = static_cast<std::int64_t>(static_cast<std::int32_t>(elements));
  ASSERT_LT(wrapped, 0);
  for (const std::uint64_t stride :
       {static_cast<std::uint64_t>(wrapped * 2),       // int32 elements, then 64-bit bytes
        static_cast<std::uint64_t>(wrapped * 16) / 8,  // the same through bits
        static_cast<std::uint64_t>(static_cast<std::int32_t>(bytes)),  // int32 bytes
        bytes & 0xffffffff})                                           // uint32 bytes
    EXPECT_EQ(stride_before_overflow(long_context(stride), 3), bytes) << stride;
}

TEST(Overflow, TheStrideOfTheReport) {
  EXPECT_EQ(stride_before_overflow(long_context(2305843007066210304u), 3), 6442450944u);
}

TEST(Overflow, APaddedStrideBelowCounts) {
  Descriptor d = testing::attention();
  d.dims = {64, 1 << 20, 4, 1, 1};
  d.strides = {8192, (std::uint64_t{8192} << 20) & 0xffffffff, 0, 0};
  EXPECT_EQ(stride_before_overflow(d, 2), std::uint64_t{8192} << 20);
}

TEST(Overflow, NothingWasLost) {
  EXPECT_EQ(stride_before_overflow(long_context(6442450944u), 3), std::nullopt);
  EXPECT_EQ(stride_before_overflow(testing::attention(), 1), std::nullopt);
  EXPECT_EQ(stride_before_overflow(testing::attention(), 0), std::nullopt);
  EXPECT_EQ(stride_before_overflow(testing::attention(), 3), std::nullopt);
}

RC_GTEST_PROP(Overflow, ADenseStrideThatFits32BitsIsNeverSuspected, ()) {
  Descriptor d;
  d.type = *rc::gen::element(DataType::u8, DataType::bf16, DataType::f32, DataType::f64);
  d.rank = 4;
  std::uint64_t stride = element_bits(d.type) / 8;
  for (std::size_t i = 0; i < 4; ++i) {
    d.dims[i] = *rc::gen::inRange<std::uint64_t>(1, 120);
    if (i > 0) d.strides[i - 1] = stride;
    stride *= d.dims[i];
  }
  RC_PRE(stride < std::uint64_t{1} << 31);
  for (std::uint32_t dim = 1; dim < 4; ++dim)
    RC_ASSERT(!stride_before_overflow(d, dim).has_value());
}

}  // namespace
}  // namespace redzone::tma
