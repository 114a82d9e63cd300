// What <redzone/kernel.h> gives g++, outside of a launch.
#include <gtest/gtest.h>
#include <redzone/kernel.h>

#include <cmath>
#include <limits>

#include "device/element.h"

namespace redzone {
namespace {

TEST(KernelHeader, Bf16HasTheBitsOfTheHarness) {
  for (std::uint64_t u = 0; u <= 0xffffffffu; u += 4099) {
    const float f = device::bits_float(static_cast<std::uint32_t>(u));
    const bf16 b(f);
    ASSERT_EQ(b.bits, device::float_to_bf16(f)) << u;
    ASSERT_EQ(device::float_bits(float(b)), device::float_bits(device::bf16_to_float(b.bits)));
  }
  EXPECT_EQ(float(bf16(1.0f + 1.0f / 256)), 1.0f) << "a tie goes to even";
  EXPECT_EQ(float(bf16(1.0f + 3.0f / 256)), 1.0f + 4.0f / 256) << "a tie goes to even";
  EXPECT_TRUE(std::isnan(float(bf16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(KernelHeader, F16HasTheBitsOfTheHarness) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    f16 half;
    half.bits = static_cast<unsigned short>(bits);
    ASSERT_EQ(device::float_bits(float(half)), device::float_bits(device::f16_to_float(half.bits)))
        << bits;
    if (!std::isnan(float(half))) {
      ASSERT_EQ(f16(float(half)).bits, bits);
    }
  }
  for (std::uint64_t u = 0; u <= 0xffffffffu; u += 4099) {
    const float f = device::bits_float(static_cast<std::uint32_t>(u));
    ASSERT_EQ(f16(f).bits, device::float_to_f16(f)) << u;
  }
  EXPECT_EQ(float(f16(1.0f + 1.0f / 2048)), 1.0f) << "a tie goes to even";
  EXPECT_EQ(float(f16(1.0f + 3.0f / 2048)), 1.0f + 4.0f / 2048) << "a tie goes to even";
  EXPECT_EQ(f16(65519.0f).bits, 0x7bffu) << "the largest number";
  EXPECT_EQ(f16(65520.0f).bits, 0x7c00u) << "infinity";
  EXPECT_EQ(f16(5.9604644775390625e-8f).bits, 1u) << "the smallest number";
  EXPECT_TRUE(std::isnan(float(f16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(KernelHeader, AtomicsGiveTheOldValue) {
  int i = 5;
  EXPECT_EQ(atomicAdd(&i, 3), 5);
  EXPECT_EQ(atomicSub(&i, 1), 8);
  EXPECT_EQ(atomicExch(&i, 4), 7);
  EXPECT_EQ(atomicCAS(&i, 4, 6), 4);
  EXPECT_EQ(atomicCAS(&i, 4, 9), 6);
  EXPECT_EQ(atomicMin(&i, 2), 6);
  EXPECT_EQ(atomicMax(&i, 7), 2);
  EXPECT_EQ(atomicAnd(&i, 3), 7);
  EXPECT_EQ(atomicOr(&i, 8), 3);
  EXPECT_EQ(atomicXor(&i, 1), 11);
  EXPECT_EQ(i, 10);
  i = std::numeric_limits<int>::max();
  atomicAdd(&i, 1);
  EXPECT_EQ(i, std::numeric_limits<int>::min()) << "integers wrap";
  float f = 1.5f;
  EXPECT_EQ(atomicAdd(&f, 2), 1.5f);
  EXPECT_EQ(f, 3.5f);
  unsigned u = 2;
  EXPECT_EQ(atomicInc(&u, 2), 2u);
  EXPECT_EQ(u, 0u);
  EXPECT_EQ(atomicDec(&u, 9), 0u);
  EXPECT_EQ(u, 9u);
  unsigned long long wide = 1ull << 40;
  EXPECT_EQ(atomicAdd(&wide, 1), 1ull << 40);
}

TEST(KernelHeader, MinAndMaxTakeMixedTypesAndIgnoreNan) {
  EXPECT_EQ(::min(3, 4u), 3u);
  EXPECT_EQ(::max(3ll, 4), 4);
  EXPECT_EQ(::max(std::nanf(""), 2.0f), 2.0f);
  EXPECT_EQ(::min(2.0f, std::nanf("")), 2.0f);
}

TEST(KernelHeader, BitIntrinsics) {
  EXPECT_EQ(__popc(0xf0f0u), 8);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__float_as_int(1.0f), 0x3f800000);
  EXPECT_EQ(__umulhi(0x80000000u, 4u), 2u);
}

}  // namespace
}  // namespace redzone
