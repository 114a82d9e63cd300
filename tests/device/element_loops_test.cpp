// The loops compared with the element-by-element definitions in buffer_math.h and element.h, for
// each kind of processor that this one can emulate.
#include "device/element_loops.h"

#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "device/buffer_math.h"
#include "tests/device/element_kinds.h"

namespace redzone::device {
namespace {

using testing::kFills;
using testing::kTypes;

// Lengths around the vector widths, with remainders.
constexpr std::int64_t kLengths[] = {0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 130, 257};
constexpr std::int64_t kStarts[] = {0, 3, std::int64_t{1} << 33};

BufferJob job_of(DType type, FillKind fill) {
  BufferJob job = {};
  job.rank = 1;
  job.stride[0] = 1;
  job.numel = job.size[0] = std::int64_t{1} << 34;
  job.dtype = static_cast<std::uint8_t>(type);
  job.fill = fill;
  job.lo = -100;
  job.hi = 100;
  job.first = fill == FillKind::offsets ? 0 : -3;
  job.last = 9;
  job.seed = 77;
  job.poison = 0xdeadbeef;
  return job;
}

std::uint64_t bits_at(const std::vector<std::byte>& bytes, std::size_t at, std::size_t n) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + at, n);
  return bits;
}

class ElementLoopsFor : public ::testing::TestWithParam<LoopsFor> {
 protected:
  void SetUp() override {
    if (GetParam() > best_loops()) GTEST_SKIP() << "this processor has less";
  }
};

TEST_P(ElementLoopsFor, FillAndVerifyAsDefined) {
  for (const DType type : kTypes)
    for (const FillKind fill : kFills)
      for (const std::int64_t n : kLengths)
        for (const std::int64_t first : kStarts) {
          const BufferJob job = job_of(type, fill);
          const ElementLoops& loops = element_loops(job, GetParam());
          const std::size_t size = dtype_bytes(type), lead = 1;  // unaligned
          const std::size_t end = lead + static_cast<std::size_t>(n) * size;
          std::vector<std::byte> bytes(end + 64, std::byte{0x5a});
          loops.fill(job, bytes.data() + lead, first, n);
          std::uint64_t digest = 0;
          for (std::int64_t i = 0; i < n; ++i) {
            const std::uint64_t bits =
                bits_at(bytes, lead + static_cast<std::size_t>(i) * size, size);
            ASSERT_EQ(bits, fill_bits(job, first + i) & (~0ull >> (64 - 8 * size)))
                << static_cast<int>(type) << ", fill " << static_cast<int>(fill) << ", element "
                << i << " of " << n << " from " << first;
            digest += digest_term(bits, first + i);
          }
          ASSERT_EQ(bytes[0], std::byte{0x5a});
          for (std::size_t i = end; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], std::byte{0x5a});

          RunSums sums{5, 7};  // sums are accumulated
          loops.verify(job, bytes.data() + lead, first, n, sums);
          ASSERT_EQ(sums.digest, 5 + digest);
          ASSERT_EQ(sums.changed, 7u);
          RunSums alone{5, 7};
          loops.digest(bytes.data() + lead, first, n, alone);
          ASSERT_EQ(alone.digest, 5 + digest);
          ASSERT_EQ(alone.changed, 7u);
        }
}

TEST_P(ElementLoopsFor, EachChangedElementIsCounted) {
  for (const DType type : kTypes) {
    const BufferJob job = job_of(type, FillKind::uniform);
    const ElementLoops& loops = element_loops(job, GetParam());
    const std::size_t size = dtype_bytes(type);
    constexpr std::int64_t kCount = 67;
    std::vector<std::byte> bytes(kCount * size);
    loops.fill(job, bytes.data(), 0, kCount);
    for (std::int64_t i = 0; i < kCount; ++i) {
      bytes[static_cast<std::size_t>(i) * size] ^= std::byte{1};
      RunSums sums;
      loops.verify(job, bytes.data(), 0, kCount, sums);
      ASSERT_EQ(sums.changed, static_cast<std::uint64_t>(i) + 1) << static_cast<int>(type);
    }
  }
}

std::string name_of_param(const ::testing::TestParamInfo<LoopsFor>& info) {
  if (info.param == LoopsFor::any) return "any";
  return info.param == LoopsFor::fma ? "fma" : "avx512";
}
INSTANTIATE_TEST_SUITE_P(Processors, ElementLoopsFor,
                         ::testing::Values(LoopsFor::any, LoopsFor::fma, LoopsFor::avx512),
                         name_of_param);

// All NaNs are equal: conversion to double may quiet a NaN.
bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b)
                       : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

TEST(DecodeElements, IsDecodeForEach) {
  for (const DType type : kTypes)
    for (const std::int64_t n : kLengths) {
      const std::size_t size = dtype_bytes(type);
      std::vector<std::byte> bytes(static_cast<std::size_t>(n) * size + 1);
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(mix(i) >> 9);
      std::vector<double> values(static_cast<std::size_t>(n) + 1, -7);
      decode_elements(type, bytes.data() + 1, n, values.data());
      for (std::int64_t i = 0; i < n; ++i)
        ASSERT_TRUE(same(values[static_cast<std::size_t>(i)],
                         decode(type, bytes.data() + 1 + static_cast<std::size_t>(i) * size)))
            << static_cast<int>(type) << ", element " << i << " of " << n;
      ASSERT_EQ(values.back(), -7);
    }
}

// IEEE 754: sign, 5 bits of exponent with bias 15, 10 of fraction.
double half_by_definition(unsigned bits) {
  const double sign = (bits & 0x8000u) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = static_cast<double>(bits & 0x3ffu) / 1024;
  if (exponent == 31) return fraction > 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -14);
  return sign * std::ldexp(1 + fraction, exponent - 15);
}

TEST(DecodeElements, KnowsEveryHalf) {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  std::vector<double> values(halves.size());
  decode_elements(DType::f16, reinterpret_cast<const std::byte*>(halves.data()), 65536,
                  values.data());
  for (unsigned i = 0; i < 65536; ++i) {
    ASSERT_TRUE(same(values[i], half_by_definition(i))) << std::hex << i;
    ASSERT_TRUE(same(f16_to_float(halves[i]), half_by_definition(i))) << std::hex << i;
  }
}

// The state that a plugin linked with -ffast-math leaves behind.
TEST(DecodeElements, KnowsSubnormalHalvesOnAProcessorThatFlushes) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush to zero, denormals are zero
  std::vector<std::uint16_t> halves;
  for (unsigned i = 0; i < 0x400; ++i)
    for (const unsigned sign : {0u, 0x8000u})
      halves.push_back(static_cast<std::uint16_t>(i | sign));
  std::vector<double> values(halves.size());
  decode_elements(DType::f16, reinterpret_cast<const std::byte*>(halves.data()), halves.size(),
                  values.data());
  _mm_setcsr(before);
  for (std::size_t i = 0; i < halves.size(); ++i)
    ASSERT_TRUE(same(values[i], half_by_definition(halves[i]))) << std::hex << halves[i];
}

}  // namespace
}  // namespace redzone::device
