// Elements as bit patterns: 8-bit floats against their definition, bools, and large integers.
#include "device/element.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <xmmintrin.h>

#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "core/spec_names.h"
#include "device/buffer_math.h"
#include "tests/device/element_kinds.h"

namespace redzone::device {
namespace {

// An 8-bit float by its definition: a sign, `exponent` bits with this bias, `fraction` bits.
struct Format {
  DType type;
  int exponent, fraction, bias;
  double largest;
  bool infinities;
};
constexpr Format kFormats[] = {{DType::f8e4m3, 4, 3, 7, 448, false},
                               {DType::f8e5m2, 5, 2, 15, 57344, true}};

double by_definition(const Format& format, unsigned bits) {
  const double sign = (bits & 0x80u) != 0 ? -1 : 1;
  const int most = (1 << format.exponent) - 1;
  const int exponent = static_cast<int>(bits >> format.fraction) & most;
  const int units = static_cast<int>(bits) & ((1 << format.fraction) - 1);
  const double fraction = std::ldexp(units, -format.fraction);
  if (format.infinities && exponent == most) return units > 0 ? std::nan("") : sign * HUGE_VAL;
  if (!format.infinities && (bits & 0x7fu) == 0x7fu) return std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - format.bias);
  return sign * std::ldexp(1 + fraction, exponent - format.bias);
}

double decoded(DType type, std::uint64_t bits) {
  return decode(type, &bits);
}
double rounded(DType type, float value) {
  return decoded(type, encode_float(type, value));
}

bool equal_numbers(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

// Any float but NaN, half of them in the range of the format.
float draw_float(const Format& format) {
  const auto bits = *rc::gen::arbitrary<std::uint32_t>();
  if (*rc::gen::inRange(0, 2) == 0 && !std::isnan(bits_float(bits))) return bits_float(bits);
  const int lowest = -format.bias - format.fraction - 2;
  const int exponent = *rc::gen::inRange(lowest, (1 << format.exponent) - format.bias + 1);
  const double magnitude = std::ldexp(1 + (bits >> 9) * 0x1p-23, exponent);
  return static_cast<float>((bits & 1) != 0 ? -magnitude : magnitude);
}

// What a processor is left in by a plugin that is linked with -ffast-math.
class Flushing {
 public:
  Flushing() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~Flushing() { _mm_setcsr(before_); }
  Flushing(const Flushing&) = delete;
  Flushing& operator=(const Flushing&) = delete;

 private:
  unsigned before_;
};

TEST(Float8, KnowsEveryNumber) {
  for (const Format& format : kFormats) {
    std::array<double, 256> flushing;
    {
      const Flushing state;
      for (unsigned bits = 0; bits < 256; ++bits) flushing[bits] = decoded(format.type, bits);
    }
    for (unsigned bits = 0; bits < 256; ++bits) {
      EXPECT_TRUE(equal_numbers(decoded(format.type, bits), by_definition(format, bits))) << bits;
      EXPECT_TRUE(equal_numbers(flushing[bits], by_definition(format, bits))) << bits;
    }
  }
}

// All numbers but the infinities, which saturate, and NaN, of which one is left.
TEST(Float8, EveryNumberIsItsOwnNearest) {
  for (const Format& format : kFormats)
    for (unsigned bits = 0; bits < 256; ++bits) {
      const double value = by_definition(format, bits);
      const std::uint64_t again = encode_real(format.type, value);
      if (std::isnan(value))
        EXPECT_EQ(again, 0x7fu) << bits;
      else if (std::isinf(value))
        EXPECT_EQ(again, bits - 1) << bits;
      else
        EXPECT_EQ(again, bits) << bits;
    }
}

// No other number is nearer; of two at the same distance it is the one whose last bit is 0.
TEST(Float8, RoundsToTheNearestNumberAndTiesToEven) {
  for (const Format& format : kFormats)
    rc::check([&] {
      const float value = draw_float(format);
      const auto bits = static_cast<unsigned>(encode_float(format.type, value));
      {
        const Flushing state;
        RC_ASSERT(encode_float(format.type, value) == bits);
      }
      const double got = by_definition(format, bits);
      RC_ASSERT(std::signbit(got) == std::signbit(value));
      if (std::abs(value) > format.largest) {
        RC_ASSERT(std::abs(got) == format.largest);
        return;
      }
      const double error = std::abs(got - static_cast<double>(value));
      for (unsigned other = 0; other < 256; ++other) {
        const double candidate = by_definition(format, other);
        if (!std::isfinite(candidate) || candidate == got) continue;
        const double its = std::abs(candidate - static_cast<double>(value));
        RC_ASSERT(its > error || (its == error && (bits & 1) == 0));
      }
    });
}

TEST(Float8, KeepsTheOrder) {
  for (const Format& format : kFormats)
    rc::check([&] {
      const float a = draw_float(format), b = draw_float(format);
      RC_ASSERT((a <= b ? rounded(format.type, a) <= rounded(format.type, b)
                        : rounded(format.type, a) >= rounded(format.type, b)));
    });
}

TEST(Float8, SaturatesAndKeepsNan) {
  for (const Format& format : kFormats) {
    const auto largest = static_cast<float>(format.largest);
    for (const float value : {largest, largest * 1.1f, std::numeric_limits<float>::max(),
                              std::numeric_limits<float>::infinity()}) {
      EXPECT_EQ(rounded(format.type, value), format.largest) << value;
      EXPECT_EQ(rounded(format.type, -value), -format.largest) << value;
    }
    EXPECT_TRUE(std::isnan(rounded(format.type, std::numeric_limits<float>::quiet_NaN())));
    EXPECT_EQ(encode_integer(format.type, 100000), encode_real(format.type, 1e9));
  }
}

TEST(Bool, IsOneUnlessTheValueIsZero) {
  for (const double value : {1.0, -1.0, 0.25, 256.0, 1e300, -1e-300})
    EXPECT_EQ(encode_real(DType::boolean, value), 1u) << value;
  EXPECT_EQ(encode_real(DType::boolean, 0.0), 0u);
  EXPECT_EQ(encode_real(DType::boolean, -0.0), 0u);
  EXPECT_EQ(encode_integer(DType::boolean, 256), 1u);
  EXPECT_EQ(encode_integer(DType::boolean, std::numeric_limits<std::int64_t>::max()), 1u);
  EXPECT_EQ(encode_integer(DType::boolean, 0), 0u);
  for (unsigned byte = 0; byte < 256; ++byte) EXPECT_EQ(decoded(DType::boolean, byte), byte);
}

BufferJob filled_job(DType type, FillKind fill) {
  BufferJob job = {};
  job.rank = 1;
  job.stride[0] = 1;
  job.numel = job.size[0] = 4096;
  job.dtype = static_cast<std::uint8_t>(type);
  job.fill = fill;
  job.lo = -1;
  job.hi = 1;
  job.seed = 5;
  return job;
}

TEST(Bool, IsFilledWithBothValues) {
  const BufferJob job = filled_job(DType::boolean, FillKind::uniform);
  int ones = 0;
  for (std::int64_t i = 0; i < job.numel; ++i) {
    const std::uint64_t bits = fill_bits(job, i);
    ASSERT_LE(bits, 1u);
    ones += static_cast<int>(bits);
  }
  EXPECT_NEAR(ones, 2048, 200);
}

// A kernel may read what an output holds before it as a bool. The poison by default and the one
// that it is compared with are opposite truth values.
TEST(Bool, IsPoisonedWithABool) {
  BufferJob job = filled_job(DType::boolean, FillKind::poison);
  job.poison = 0xffffffff;
  EXPECT_EQ(fill_bits(job, 3), 1u);
  job.poison = 0x3f3f3f3f;
  EXPECT_EQ(fill_bits(job, 3), 0u);
  rc::check([&](std::uint32_t poison) {
    job.poison = poison;
    RC_ASSERT(fill_bits(job, 0) <= 1u);
  });
}

TEST(Float8, IsPoisonedWithNanAndWithANumber) {
  for (const Format& format : kFormats) {
    BufferJob job = filled_job(format.type, FillKind::poison);
    job.poison = 0xffffffff;
    EXPECT_TRUE(std::isnan(decoded(format.type, fill_bits(job, 0) & 0xff)));
    job.poison = 0x3f3f3f3f;
    EXPECT_GT(decoded(format.type, fill_bits(job, 0) & 0xff), 0);
  }
}

// Small numbers of both formats are drawn, as far down as the 16 bits that are drawn reach.
TEST(Float8, IsFilledNearToZero) {
  for (const Format& format : kFormats) {
    BufferJob job = filled_job(format.type, FillKind::uniform);
    job.numel = job.size[0] = 1 << 16;
    int subnormal = 0;
    for (std::int64_t i = 0; i < job.numel; ++i) {
      const double value = std::abs(decoded(format.type, fill_bits(job, i) & 0xff));
      ASSERT_LE(value, 1);
      subnormal += value > 0 && value < 0x1p-8;
    }
    EXPECT_GT(subnormal, 50) << static_cast<int>(format.type);
  }
}

// A quarter of the elements are small integers, which every type holds, so that sums of thousands
// of products are the same in every order.
TEST(Sparse, SumsAreExactInEveryOrder) {
  for (const DType type : kTypes) {
    BufferJob a = filled_job(type, FillKind::sparse), b = a;
    b.seed = 6;
    const auto value = [type](const BufferJob& job, std::int64_t i) {
      const std::uint64_t bits = fill_bits(job, i) & (~0ull >> (64 - 8 * dtype_bytes(type)));
      return decoded(type, bits);
    };
    int zeros = 0;
    std::set<double> seen;
    float forward = 0, backward = 0;
    double exact = 0;
    for (std::int64_t i = 0; i < a.numel; ++i) {
      const std::int64_t j = a.numel - 1 - i;
      zeros += value(a, i) == 0 ? 1 : 0;
      seen.insert(value(a, i));
      exact += value(a, i) * value(b, i);
      forward += static_cast<float>(value(a, i)) * static_cast<float>(value(b, i));
      backward += static_cast<float>(value(a, j)) * static_cast<float>(value(b, j));
    }
    EXPECT_NEAR(zeros, 0.75 * static_cast<double>(a.numel), static_cast<double>(a.numel) / 16)
        << type;
    if (type == DType::boolean)
      EXPECT_EQ(seen, (std::set<double>{0, 1}));
    else if (is_unsigned(type))
      EXPECT_EQ(seen, (std::set<double>{0, 1, 2})) << static_cast<int>(type);
    else
      EXPECT_EQ(seen, (std::set<double>{-2, -1, 0, 1, 2})) << static_cast<int>(type);
    EXPECT_EQ(static_cast<double>(forward), exact);
    EXPECT_EQ(static_cast<double>(backward), exact);
  }
}

// Nothing but uniform numbers is beside the special values.
TEST(Special, ValuesAreOneElementInSixteenOfAFloatingType) {
  for (const DType type : kTypes) {
    BufferJob job = filled_job(type, FillKind::special), uniform = job;
    uniform.fill = FillKind::uniform;
    const std::uint64_t mask = ~0ull >> (64 - 8 * dtype_bytes(type));
    std::set<std::uint64_t> seen;
    int special = 0;
    job.numel = 1 << 14;
    for (std::int64_t i = 0; i < job.numel; ++i) {
      const std::uint64_t bits = fill_bits(job, i) & mask;
      if (bits == (fill_bits(uniform, i) & mask)) continue;
      ++special;
      seen.insert(bits);
    }
    if (!is_floating(type)) {
      EXPECT_EQ(special, 0) << type;
      continue;
    }
    EXPECT_NEAR(special, static_cast<double>(job.numel) / 16, static_cast<double>(job.numel) / 64)
        << type;
    EXPECT_EQ(seen.size(), 8u) << type;
    const auto value = [&](std::uint64_t which) {
      return decoded(type, special_value(type, which));
    };
    EXPECT_TRUE(std::isnan(value(0))) << type;
    EXPECT_EQ(value(1), type == DType::f8e4m3 ? 448 : INFINITY) << type;
    EXPECT_EQ(value(2), -value(1)) << type;
    EXPECT_TRUE(value(3) == 0 && std::signbit(value(3))) << type;
    EXPECT_TRUE(value(4) > 0 && value(4) < value(5)) << type;
    EXPECT_EQ(value(6), -value(4)) << type;
    EXPECT_EQ(value(7), -value(5)) << type;
  }
  EXPECT_EQ(decoded(DType::f16, special_value(DType::f16, 4)), 0x1p-24);
  EXPECT_EQ(decoded(DType::bf16, special_value(DType::bf16, 5)), 0x1p-126);
}

TEST(Unsigned, HoldsAllOf64Bits) {
  EXPECT_EQ(encode_real(DType::u64, 0x1p63), std::uint64_t{1} << 63);
  EXPECT_EQ(encode_float(DType::u64, 0x1.8p63f), std::uint64_t{3} << 62);
  EXPECT_EQ(encode_real(DType::u64, 12345.9), 12345u);
  EXPECT_EQ(encode_real(DType::u64, -1), ~std::uint64_t{0});
  EXPECT_EQ(decoded(DType::u64, ~std::uint64_t{0}), 0x1p64);
  EXPECT_EQ(decoded(DType::u16, 0xffff), 65535);
  EXPECT_EQ(decoded(DType::i16, 0xffff), -1);
  rc::check([] {
    const auto value = *rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(11, 64);
    RC_ASSERT(encode_real(DType::u64, decoded(DType::u64, value)) == value);
  });
}

TEST(Complex, ConsistsOfTwoReals) {
  EXPECT_EQ(real_type(DType::c64), DType::f32);
  EXPECT_EQ(real_type(DType::c128), DType::f64);
  for (const DType type : {DType::c64, DType::c128}) {
    EXPECT_EQ(reals_per_element(type), 2);
    EXPECT_EQ(dtype_bytes(type), 2 * dtype_bytes(real_type(type)));
  }
  for (int i = 0; i < static_cast<int>(DType::c64); ++i) {
    EXPECT_EQ(real_type(static_cast<DType>(i)), static_cast<DType>(i));
    EXPECT_EQ(reals_per_element(static_cast<DType>(i)), 1);
  }
}

}  // namespace
}  // namespace redzone::device
