// 8-bit floats as CUDA's own conversions have them, by their code for the host.
#include <cuda_fp8.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "device/element.h"

namespace redzone::device {
namespace {

void expect_as_cuda(float value) {
  EXPECT_EQ(float_to_f8e4m3(value), __nv_fp8_e4m3(value).__x) << value;
  EXPECT_EQ(float_to_f8e5m2(value), __nv_fp8_e5m2(value).__x) << value;
}

TEST(Float8, ConvertsToFloatAsCudaDoes) {
  for (unsigned bits = 0; bits < 256; ++bits) {
    __nv_fp8_e4m3 e4m3;
    __nv_fp8_e5m2 e5m2;
    e4m3.__x = e5m2.__x = static_cast<__nv_fp8_storage_t>(bits);
    const float values[][2] = {
        {f8e4m3_to_float(e4m3.__x), static_cast<float>(e4m3)},
        {f8e5m2_to_float(e5m2.__x), static_cast<float>(e5m2)},
    };
    for (const auto& [ours, cudas] : values) {
      if (std::isnan(cudas))
        EXPECT_TRUE(std::isnan(ours)) << bits;
      else
        EXPECT_EQ(float_bits(ours), float_bits(cudas)) << bits;
    }
  }
}

// Each float whose last 12 bits are zero, with its neighbours: all that either format can
// represent, all that lie halfway between two such, infinities and NaN.
TEST(Float8, ConvertsFromFloatAsCudaDoes) {
  for (std::uint32_t high = 0; high < 1u << 20; ++high)
    for (const std::uint32_t low : {0u, 1u, 0xfffu}) expect_as_cuda(bits_float(high << 12 | low));
  rc::check([](std::uint32_t bits) { expect_as_cuda(bits_float(bits)); });
}

}  // namespace
}  // namespace redzone::device
