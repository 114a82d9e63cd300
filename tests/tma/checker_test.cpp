// Each rule on both sides of its boundary, and the probes of the driver.
#include "tma/checker.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "tests/tma/samples.h"

namespace redzone::tma {
namespace {

using testing::attention;
using testing::convolution;

std::set<std::string> broken(const Descriptor& d, int compute_capability = 90) {
  std::set<std::string> out;
  for (const auto& v : check(d, compute_capability)) out.emplace(name_of(v.rule));
  return out;
}

// attention() is legal for the driver, but not in memory order as the manual's formula requires.
std::set<std::string> broken_for_driver(const Descriptor& d, int compute_capability = 90) {
  auto out = broken(d, compute_capability);
  out.erase("stride-order");
  return out;
}

using Change = std::function<void(Descriptor&)>;

struct Boundary {
  const char* name;
  const char* rule;  // the only one that `beyond` breaks
  Descriptor (*sample)();
  Change within, beyond;
};

void PrintTo(const Boundary& b, std::ostream* out) {
  *out << b.name;
}

Descriptor interleaved() {
  Descriptor d = attention();
  d.interleave = Interleave::b32;
  d.swizzle = Swizzle::b32;
  return d;
}

Descriptor packed() {
  Descriptor d = attention();
  d.type = DataType::u4x16_align16;
  d.box[0] = 128;
  return d;
}

Descriptor six_bits() {
  Descriptor d = packed();
  d.type = DataType::u6x16_align16;
  return d;
}

std::vector<Boundary> boundaries() {
  const auto nothing = [](Descriptor&) {};
  return {
      {"type", "data-type", attention,
       [](auto& d) {
         d.type = DataType::tf32_ftz;
         d.box[0] = 32;
       },
       [](auto& d) { d.type = static_cast<DataType>(16); }},
      {"rank_0", "rank", attention, [](auto& d) { d.rank = 1; }, [](auto& d) { d.rank = 0; }},
      {"rank_6", "rank", attention, [](auto& d) { d.rank = 5; }, [](auto& d) { d.rank = 6; }},
      {"rank_huge", "rank", attention, nothing, [](auto& d) { d.rank = 0xffffffff; }},
      {"rank_of_interleave", "rank-of-interleave", interleaved, nothing,
       [](auto& d) { d.rank = 2; }},
      {"address", "address-alignment", attention, [](auto& d) { d.address += 16; },
       [](auto& d) { d.address += 8; }},
      {"address_of_interleave", "address-alignment", interleaved, [](auto& d) { d.address += 32; },
       [](auto& d) { d.address += 16; }},
      {"dim_0", "dim-range", attention, [](auto& d) { d.dims[1] = 1; },
       [](auto& d) { d.dims[1] = 0; }},
      {"dim_max", "dim-range", attention, [](auto& d) { d.dims[2] = std::uint64_t{1} << 32; },
       [](auto& d) { d.dims[2] = (std::uint64_t{1} << 32) + 1; }},
      {"stride", "stride-alignment", attention, [](auto& d) { d.strides[0] = 272; },
       [](auto& d) { d.strides[0] = 264; }},
      {"stride_of_interleave", "stride-alignment", interleaved, [](auto& d) { d.strides[1] = 288; },
       [](auto& d) { d.strides[1] = 272; }},
      {"stride_max", "stride-range", attention,
       [](auto& d) { d.strides[1] = (std::uint64_t{1} << 40) - 16; },
       [](auto& d) { d.strides[1] = std::uint64_t{1} << 40; }},
      {"stride_negative", "stride-range", attention, nothing,
       [](auto& d) { d.strides[0] = static_cast<std::uint64_t>(-256); }},
      {"box_0", "box-range", attention, [](auto& d) { d.box[1] = 1; },
       [](auto& d) { d.box[1] = 0; }},
      {"box_max", "box-range", attention, [](auto& d) { d.box[1] = 256; },
       [](auto& d) { d.box[1] = 257; }},
      {"box_bytes", "box-inner-bytes", attention, [](auto& d) { d.box[0] = 8; },
       [](auto& d) { d.box[0] = 4; }},
      {"interleaved_bytes", "interleaved-bytes", interleaved, [](auto& d) { d.box[0] = 8; },
       [](auto& d) { d.box[0] = 4; }},
      {"interleaved_channels", "interleaved-bytes", convolution,
       [](auto& d) {
         d.interleave = Interleave::b16;
         d.channels = 24;
       },
       [](auto& d) {
         d.interleave = Interleave::b16;
         d.channels = 20;
       }},
      {"load_bytes", "box-bytes", attention,
       [](auto& d) {
         d.box = {64, 228, 8, 1, 1};
       },
       [](auto& d) {
         d.box = {64, 229, 8, 1, 1};
       }},
      {"load_bytes_of_element_strides", "box-bytes", attention,
       [](auto& d) {
         d.box = {64, 255, 57, 1, 1};
         d.element_strides[1] = 4;
         d.element_strides[2] = 2;
       },
       [](auto& d) {
         d.box = {64, 255, 59, 1, 1};
         d.element_strides[1] = 4;
       }},
      {"load_bytes_of_pixels", "box-bytes", convolution,
       [](auto& d) {
         d.swizzle = Swizzle::none;
         d.channels = 256;
         d.pixels = 456;
       },
       [](auto& d) {
         d.swizzle = Swizzle::none;
         d.channels = 256;
         d.pixels = 457;
       }},
      {"element_stride_0", "element-stride-range", attention,
       [](auto& d) { d.element_strides[1] = 1; }, [](auto& d) { d.element_strides[1] = 0; }},
      {"element_stride_max", "element-stride-range", attention,
       [](auto& d) { d.element_strides[2] = 8; }, [](auto& d) { d.element_strides[2] = 9; }},
      {"element_stride_of_interleave", "element-stride-range", interleaved, nothing,
       [](auto& d) { d.element_strides[0] = 9; }},
      {"inner_element_stride", "inner-element-stride", attention, nothing,
       [](auto& d) { d.element_strides[0] = 0; }},
      {"interleave", "interleave", attention, nothing,
       [](auto& d) { d.interleave = static_cast<Interleave>(3); }},
      {"swizzle", "swizzle", attention, nothing,
       [](auto& d) { d.swizzle = static_cast<Swizzle>(7); }},
      {"span_128", "swizzle-span", attention, nothing, [](auto& d) { d.box[0] = 72; }},
      {"span_64", "swizzle-span", attention,
       [](auto& d) {
         d.swizzle = Swizzle::b64;
         d.box[0] = 32;
       },
       [](auto& d) {
         d.swizzle = Swizzle::b64;
         d.box[0] = 40;
       }},
      {"span_32", "swizzle-span", attention,
       [](auto& d) {
         d.swizzle = Swizzle::b32;
         d.box[0] = 16;
       },
       [](auto& d) {
         d.swizzle = Swizzle::b32;
         d.box[0] = 24;
       }},
      {"no_span_with_interleave", "swizzle-of-interleave", interleaved,
       [](auto& d) { d.box[0] = 128; }, [](auto& d) { d.swizzle = Swizzle::b64; }},
      {"promotion", "promotion", attention, [](auto& d) { d.promotion = Promotion::b256; },
       [](auto& d) { d.promotion = static_cast<Promotion>(4); }},
      {"fill", "fill", attention, [](auto& d) { d.fill = Fill::nan; },
       [](auto& d) { d.fill = static_cast<Fill>(2); }},
      {"fill_of_type", "fill-of-type", attention, [](auto& d) { d.fill = Fill::nan; },
       [](auto& d) {
         d.fill = Fill::nan;
         d.type = DataType::u16;
       }},
      {"packed_box", "box-of-packed", packed, nothing, [](auto& d) { d.box[0] = 64; }},
      {"packed_dim", "dim-of-packed", packed, [](auto& d) { d.dims[0] = 256; },
       [](auto& d) { d.dims[0] = 64; }},
      {"packed_address", "address-alignment", packed, nothing, [](auto& d) { d.address += 16; }},
      {"packed_stride", "stride-alignment", packed, nothing, [](auto& d) { d.strides[0] += 16; }},
      {"packed_swizzle", "swizzle-of-packed", packed,
       [](auto& d) { d.swizzle = Swizzle::b128_atom32; },
       [](auto& d) { d.swizzle = Swizzle::b128_atom64; }},
      {"six_bits_swizzle", "swizzle-of-packed", six_bits,
       [](auto& d) { d.swizzle = Swizzle::b128_atom64; },
       [](auto& d) { d.swizzle = Swizzle::b128_atom32_flip8; }},
      {"six_bits_interleave", "interleave-of-packed", six_bits, nothing,
       [](auto& d) { d.interleave = Interleave::b16; }},
      {"four_bits_dim", "dim-of-packed", attention,
       [](auto& d) {
         d.type = DataType::u4x16_align8;
         d.dims[0] = 130;
       },
       [](auto& d) {
         d.type = DataType::u4x16_align8;
         d.dims[0] = 131;
       }},
      {"im2col_rank", "rank", convolution, [](auto& d) { d.rank = 3; },
       [](auto& d) { d.rank = 2; }},
      {"corner_4", "corner-range", convolution,
       [](auto& d) {
         d.lower = {-128, 0, 0};
         d.upper = {127, 0, 0};
       },
       [](auto& d) {
         d.lower = {-129, 0, 0};
       }},
      {"corner_3", "corner-range", convolution,
       [](auto& d) {
         d.rank = 3;
         d.lower[0] = -32768;
         d.upper[0] = 32767;
       },
       [](auto& d) {
         d.rank = 3;
         d.upper[0] = 32768;
       }},
      {"corner_5", "corner-range", convolution,
       [](auto& d) {
         d.rank = 5;
         d.strides[3] = 16;
         d.lower[2] = -16;
         d.upper[2] = 15;
       },
       [](auto& d) {
         d.rank = 5;
         d.strides[3] = 16;
         d.upper[2] = 16;
       }},
      {"area", "corner-area", convolution,
       [](auto& d) {
         d.lower[0] = 0;
         d.upper[0] = -55;
       },
       [](auto& d) {
         d.lower[0] = 0;
         d.upper[0] = -56;
       }},
      {"area_of_interleave", "corner-area", convolution,
       [](auto& d) {
         d.interleave = Interleave::b16;
         d.lower[0] = 0;
         d.upper[0] = -63;
       },
       [](auto& d) {
         d.interleave = Interleave::b16;
         d.lower[0] = 0;
         d.upper[0] = -64;
       }},
      {"area_in_32_bits", "corner-area", convolution, [](auto& d) { d.dims[1] = 0x80000000; },
       [](auto& d) { d.dims[1] = 0x80000001; }},
      {"area_with_its_corner", "corner-area", convolution,
       [](auto& d) {
         d.upper[1] = 5;
         d.dims[2] = 0x7ffffffa;
       },
       [](auto& d) {
         d.upper[1] = 5;
         d.dims[2] = 0x7ffffffb;
       }},
      {"area_wraps_around", "corner-area", convolution,
       [](auto& d) {
         d.upper[1] = 2;
         d.lower[1] = 0;
         d.dims[2] = 0xffffffff;
       },
       [](auto& d) {
         d.upper[1] = 1;
         d.lower[1] = 0;
         d.dims[2] = 0xffffffff;
       }},
      {"channels", "channels-range", convolution,
       [](auto& d) {
         d.channels = 256;
         d.swizzle = Swizzle::none;
       },
       [](auto& d) {
         d.channels = 264;
         d.swizzle = Swizzle::none;
       }},
      {"channels_zero", "channels-zero", convolution, nothing, [](auto& d) { d.channels = 0; }},
      {"channels_bytes", "channels-bytes", convolution, nothing, [](auto& d) { d.channels = 12; }},
      {"channels_span", "swizzle-span", convolution, nothing, [](auto& d) { d.channels = 128; }},
      {"pixels", "pixels-range", convolution, [](auto& d) { d.pixels = 1024; },
       [](auto& d) { d.pixels = 1025; }},
      {"pixels_zero", "pixels-zero", convolution, nothing, [](auto& d) { d.pixels = 0; }},
  };
}

class Boundaries : public ::testing::TestWithParam<Boundary> {};

TEST_P(Boundaries, OneStepBeyondBreaksThisRuleOnly) {
  const Boundary& b = GetParam();
  Descriptor within = b.sample(), beyond = b.sample();
  b.within(within);
  b.beyond(beyond);
  // Compute capability 10.0, which supports packed types.
  EXPECT_EQ(broken_for_driver(within, 100), std::set<std::string>{}) << text_of(within);
  EXPECT_EQ(broken_for_driver(beyond, 100), std::set<std::string>{b.rule}) << text_of(beyond);
}

INSTANTIATE_TEST_SUITE_P(Rules, Boundaries, ::testing::ValuesIn(boundaries()),
                         [](const auto& info) { return std::string(info.param.name); });

// cuTensorMapEncodeTiled on an H100, driver 580.159.04: result 0 or 1.
struct Probe {
  const char* name;
  Change change;
  bool accepted;
};

void PrintTo(const Probe& p, std::ostream* out) {
  *out << p.name;
}

// The descriptor of flashinfer-ai/flashinfer#2150 with another stride for its dim of size 1.
Descriptor one_token(std::uint64_t stride) {
  Descriptor d = attention();
  d.dims[1] = 1;
  d.strides = {stride, 256, 0, 0};
  return d;
}

std::vector<Probe> probes() {
  const auto stride = [](std::uint64_t value) {
    return [value](Descriptor& d) { d = one_token(value); };
  };
  return {
      {"degenerate_2", stride(2), false},
      {"degenerate_256", stride(256), true},
      {"degenerate_8192", stride(8192), true},
      {"degenerate_16", stride(16), true},
      {"degenerate_0", stride(0), true},
      {"base_plus_8", [](auto& d) { d.address += 8; }, false},
      {"base_null", [](auto& d) { d.address = 0; }, true},
      {"dim_0", [](auto& d) { d.dims[1] = 0; }, false},
      {"dim_2_32", [](auto& d) { d.dims[1] = std::uint64_t{1} << 32; }, true},
      {"dim_2_32_1", [](auto& d) { d.dims[1] = (std::uint64_t{1} << 32) + 1; }, false},
      {"stride_2", [](auto& d) { d.strides[0] = 2; }, false},
      {"stride_0", [](auto& d) { d.strides[0] = 0; }, true},
      {"stride_2_40", [](auto& d) { d.strides[0] = std::uint64_t{1} << 40; }, false},
      {"overlapping", [](auto& d) { d.strides[0] = 16; }, true},
      {"box_0", [](auto& d) { d.box[1] = 0; }, false},
      {"box_257", [](auto& d) { d.box[1] = 257; }, false},
      {"box_8_bytes", [](auto& d) { d.box[0] = 4; }, false},
      {"box_256_bytes", [](auto& d) { d.box[0] = 128; }, false},
      {"element_stride_0", [](auto& d) { d.element_strides[1] = 0; }, false},
      {"element_stride_8", [](auto& d) { d.element_strides[1] = 8; }, true},
      {"element_stride_9", [](auto& d) { d.element_strides[1] = 9; }, false},
      {"nan_for_i32",
       [](auto& d) {
         d.type = DataType::i32;
         d.box[0] = 32;
         d.fill = Fill::nan;
       },
       false},
  };
}

class Probes : public ::testing::TestWithParam<Probe> {};

TEST_P(Probes, AreAnsweredAsTheDriverDid) {
  Descriptor d = attention();
  GetParam().change(d);
  EXPECT_EQ(answer_of_driver(check(d, 90)), GetParam().accepted ? Answer::accepts : Answer::rejects)
      << text_of(d);
}

INSTANTIATE_TEST_SUITE_P(H100, Probes, ::testing::ValuesIn(probes()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Checker, OverlapIsForbiddenByTheManualAndAcceptedByTheDriver) {
  Descriptor d = attention();
  d.strides[0] = 16;
  const auto found = check(d);
  EXPECT_EQ(answer_of_manual(found), Answer::rejects);
  EXPECT_EQ(answer_of_driver(found), Answer::accepts);
}

TEST(Checker, DenseMemoryOrderSatisfiesTheManual) {
  Descriptor d = attention();
  d.strides = {256, 256 * 512, 0, 0};
  EXPECT_EQ(answer_of_manual(check(d)), Answer::accepts);
}

TEST(Checker, ADegenerateStrideIsToldApart) {
  const auto found = check(one_token(2));
  ASSERT_EQ(found.size(), 1u);
  const Violation& v = found.all()[0];
  EXPECT_EQ(v.rule, Rule::stride_alignment);
  EXPECT_EQ(v.dim, 1);
  EXPECT_EQ(v.value, 2u);
  EXPECT_EQ(v.limit.unit, 16);
  EXPECT_TRUE(v.degenerate);

  Descriptor real = attention();
  real.strides[0] = 2;
  for (const auto& violation : check(real)) EXPECT_FALSE(violation.degenerate);
}

TEST(Checker, GivesEveryBrokenRule) {
  Descriptor d = attention();
  d.address += 4;
  d.dims[1] = 0;
  d.strides[1] = 8;
  d.box = {6, 300, 1, 1, 1};
  d.element_strides[2] = 12;
  d.fill = static_cast<Fill>(9);
  EXPECT_EQ(
      broken_for_driver(d),
      (std::set<std::string>{"address-alignment", "dim-range", "stride-alignment", "box-range",
                             "box-inner-bytes", "element-stride-range", "fill"}));
}

TEST(Checker, EntriesBeyondTheRankMeanNothing) {
  Descriptor d = attention();
  d.dims[3] = 0;
  d.strides[2] = 3;
  d.box[4] = 0;
  d.element_strides[3] = 0;
  EXPECT_EQ(broken_for_driver(d), std::set<std::string>{});
}

TEST(Checker, PackedTypesAreRefusedOnOlderGpus) {
  Descriptor d = attention();
  d.type = DataType::u4x16_align16;
  d.box[0] = 128;
  EXPECT_EQ(answer_of_driver(check(d, 90)), Answer::rejects);
  EXPECT_EQ(answer_of_driver(check(d, 100)), Answer::accepts);
  EXPECT_EQ(answer_of_driver(check(d, 0)), Answer::accepts);
  d.address += 8;
  EXPECT_EQ(answer_of_driver(check(d, 90)), Answer::rejects);
}

TEST(Rules, HaveNamesAndSentencesAndEachDifferenceHasASource) {
  std::set<std::string_view> names, sentences;
  for (const Rule rule : enumerators<Rule>()) {
    names.insert(name_of(rule));
    sentences.insert(sentence_of(rule));
  }
  EXPECT_EQ(names.size(), enumerators<Rule>().size());
  EXPECT_EQ(sentences.size(), enumerators<Rule>().size());
  EXPECT_FALSE(sentences.contains(""));
  std::set<Rule> rows;
  for (const auto& row : differences()) {
    EXPECT_TRUE(rows.insert(row.rule).second) << name_of(row.rule) << " has two rows";
    EXPECT_FALSE(row.source.empty());
    EXPECT_FALSE(row.manual == Says::forbids && row.driver == Says::forbids) << row.what;
  }
}

}  // namespace
}  // namespace redzone::tma
