// The loops compared with the element-by-element definitions in buffer_math.h and element.h, for
// each kind of processor that this one can emulate.
#include "device/element_loops.h"

#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "device/buffer_math.h"
#include "tests/device/element_kinds.h"

namespace redzone::device {
namespace {

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
          for (std::int64_t i = 0; i < n; ++i) {
            const std::uint64_t bits =
                bits_at(bytes, lead + static_cast<std::size_t>(i) * size, size);
            ASSERT_EQ(bits, fill_bits(job, first + i) & (~0ull >> (64 - 8 * size)))
                << static_cast<int>(type) << ", fill " << static_cast<int>(fill) << ", element "
                << i << " of " << n << " from " << first;
          }
          ASSERT_EQ(bytes[0], std::byte{0x5a});
          for (std::size_t i = end; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], std::byte{0x5a});

          RunSums sums{.changed = 7};  // sums are accumulated
          loops.verify(job, bytes.data() + lead, first, n, sums);
          ASSERT_EQ(sums.changed, 7u);
        }
}

// However the elements are split into runs, the digest is that of the elements one by one.
TEST_P(ElementLoopsFor, TheDigestDoesNotDependOnTheRuns) {
  constexpr std::int64_t kCount = 700;
  for (const DType type : kTypes)
    for (const std::int64_t run : {1, 3, 5, 8, 17, 64, 129, 700})
      for (const std::int64_t numel : {1, 2, 9, 333, 700}) {
        const BufferJob job = job_of(type, FillKind::uniform);
        const ElementLoops& loops = element_loops(job, GetParam());
        const std::size_t size = dtype_bytes(type), lead = 1;
        std::vector<std::byte> bytes(lead + static_cast<std::size_t>(kCount) * size);
        loops.fill(job, bytes.data() + lead, 0, kCount);
        ElementDigest digest(size);
        for (std::int64_t i = 0; i < numel; ++i)
          digest.add(bits_at(bytes, lead + static_cast<std::size_t>(i) * size, size));
        RunSums sums, verified;
        for (std::int64_t first = 0; first < numel; first += run) {
          const std::int64_t n = std::min(run, numel - first);
          const std::byte* const at = bytes.data() + lead + static_cast<std::size_t>(first) * size;
          loops.digest(at, first, n, sums);
          loops.verify(job, at, first, n, verified);
        }
        ASSERT_EQ(digest_of(sums, type, numel), digest.value())
            << static_cast<int>(type) << ", runs of " << run << ", " << numel << " elements";
        ASSERT_EQ(digest_of(verified, type, numel), digest.value());
        ASSERT_EQ(verified.changed, 0u);
      }
}

// Sixteen equal parts of the range, over elements of each lane of a word.
TEST(Fill, UniformElementsAreSpreadEvenlyInEachLane) {
  constexpr std::size_t kParts = 16;
  constexpr std::int64_t kWords = 16384;
  for (const DType type :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8, DType::u64}) {
    BufferJob job = job_of(type, FillKind::uniform);
    job.lo = 0;
    job.hi = type == DType::i8 ? 64 : type == DType::u64 ? 0x1p64 : 1;  // integers: rounded down
    const std::int64_t lanes = elements_per_word(dtype_bytes(type));
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      std::array<int, kParts> in_part = {};
      for (std::int64_t w = 0; w < kWords; ++w) {
        const std::uint64_t bits = fill_bits(job, w * lanes + lane);
        const double value = decode(type, &bits) / job.hi;
        ASSERT_GE(value, 0);
        ++in_part[std::min(static_cast<std::size_t>(value * kParts), kParts - 1)];
      }
      // Chi-squared with 15 degrees of freedom: 60 is beyond one in a million.
      double chi = 0;
      constexpr double kExpected = static_cast<double>(kWords) / kParts;
      for (const int n : in_part) chi += (n - kExpected) * (n - kExpected) / kExpected;
      EXPECT_LT(chi, 60) << static_cast<int>(type) << ", lane " << lane;
    }
  }
}

// As fine near 0 as a float drawn by 24 bits.
TEST(Fill, UniformElementsOfTwoBytesComeNearToZero) {
  for (const DType type : {DType::f16, DType::bf16}) {
    BufferJob job = job_of(type, FillKind::uniform);
    job.lo = -1;
    job.hi = 1;
    int small = 0, zeros = 0;
    constexpr std::int64_t kCount = 1 << 20;
    for (std::int64_t i = 0; i < kCount; ++i) {
      const std::uint64_t bits = fill_bits(job, i);
      const double value = std::abs(decode(type, &bits));
      small += value > 0 && value < 0x1p-15;
      zeros += value == 0;
    }
    EXPECT_NEAR(small, kCount / 32768.0, 20) << static_cast<int>(type);
    EXPECT_LE(zeros, 3) << static_cast<int>(type);
  }
}

// A digest says which element holds which bits, within a word and between words.
TEST(Digest, ChangesWithEachBitAndWithEachSwap) {
  for (const std::size_t size : {1, 2, 4, 8}) {
    constexpr std::size_t kCount = 19;
    std::vector<std::uint64_t> elements(kCount);
    for (std::size_t i = 0; i < kCount; ++i) elements[i] = (i + 1) & 0xff;
    const auto digest = [&] {
      ElementDigest all(size);
      for (const std::uint64_t bits : elements) all.add(bits);
      return all.value();
    };
    const std::uint64_t before = digest();
    for (std::size_t i = 0; i < kCount; ++i) {
      for (std::size_t bit = 0; bit < 8 * size; ++bit) {
        elements[i] ^= std::uint64_t{1} << bit;
        EXPECT_NE(digest(), before) << "bit " << bit << " of element " << i;
        elements[i] ^= std::uint64_t{1} << bit;
      }
      for (std::size_t k = 0; k < i; ++k) {
        std::swap(elements[i], elements[k]);
        EXPECT_NE(digest(), before) << "elements " << i << " and " << k;
        std::swap(elements[i], elements[k]);
      }
    }
    EXPECT_EQ(digest(), before);
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
