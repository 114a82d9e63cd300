// The rules that a TMA descriptor can break, and whether the manual (the comments of cuda.h, CUDA
// 13.0) or the driver forbids each violation. If the two differ, or one is unknown, there is a row
// with its source.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/enum_names.h"

namespace redzone::tma {

enum class Rule : std::uint8_t {
  data_type,              // must be an enumerator
  rank,                   // 1..5; im2col 3..5
  rank_of_interleave,     // at least 3 with an interleave
  address_alignment,      // multiple of 16, or 32
  dim_range,              // 1..2^32
  dim_of_packed,          // dim 0: multiple of 128, or of 2
  stride_alignment,       // multiple of 16, or 32
  stride_range,           // below 2^40
  stride_order,           // at least the bytes that the stride steps over
  box_range,              // 1..256
  box_inner_bytes,        // multiple of 16 without interleave
  interleaved_bytes,      // same with an interleave; also for a pixel of im2col
  box_bytes,              // load size in shared memory: at most 228 KiB
  box_of_packed,          // box 0: 128
  element_stride_range,   // 1..8
  inner_element_stride,   // same for dim 0, whose element stride is not used without interleave
  interleave,             // must be an enumerator
  interleave_of_packed,   // must be none for 6-bit types
  swizzle,                // must be an enumerator
  swizzle_span,           // without interleave: inner bytes of the box within the swizzle's span
  swizzle_of_interleave,  // must be 32B with the 32B interleave
  swizzle_of_packed,      // only some swizzles for the spread types
  promotion,              // must be an enumerator
  fill,                   // must be an enumerator
  fill_of_type,           // NaN only for floating-point types
  corner_range,           // im2col: 16, 8 or 5 bits signed
  corner_area,            // im2col: at least one pixel along each dim
  channels_range,         // im2col: at most 256
  channels_zero,          // im2col: at least 1
  channels_bytes,         // im2col: multiple of 16 bytes without interleave
  channels_of_packed,     // im2col: 128
  pixels_range,           // im2col: at most 1024
  pixels_zero,            // im2col: at least 1
  newer_gpu,              // types and swizzles that need compute capability 10.0
};
constexpr auto enum_table(Rule) {
  return enum_names<Rule>("rule of a descriptor",
                          {{Rule::data_type, "data-type"},
                           {Rule::rank, "rank"},
                           {Rule::rank_of_interleave, "rank-of-interleave"},
                           {Rule::address_alignment, "address-alignment"},
                           {Rule::dim_range, "dim-range"},
                           {Rule::dim_of_packed, "dim-of-packed"},
                           {Rule::stride_alignment, "stride-alignment"},
                           {Rule::stride_range, "stride-range"},
                           {Rule::stride_order, "stride-order"},
                           {Rule::box_range, "box-range"},
                           {Rule::box_inner_bytes, "box-inner-bytes"},
                           {Rule::interleaved_bytes, "interleaved-bytes"},
                           {Rule::box_bytes, "box-bytes"},
                           {Rule::box_of_packed, "box-of-packed"},
                           {Rule::element_stride_range, "element-stride-range"},
                           {Rule::inner_element_stride, "inner-element-stride"},
                           {Rule::interleave, "interleave"},
                           {Rule::interleave_of_packed, "interleave-of-packed"},
                           {Rule::swizzle, "swizzle"},
                           {Rule::swizzle_span, "swizzle-span"},
                           {Rule::swizzle_of_interleave, "swizzle-of-interleave"},
                           {Rule::swizzle_of_packed, "swizzle-of-packed"},
                           {Rule::promotion, "promotion"},
                           {Rule::fill, "fill"},
                           {Rule::fill_of_type, "fill-of-type"},
                           {Rule::corner_range, "corner-range"},
                           {Rule::corner_area, "corner-area"},
                           {Rule::channels_range, "channels-range"},
                           {Rule::channels_zero, "channels-zero"},
                           {Rule::channels_bytes, "channels-bytes"},
                           {Rule::channels_of_packed, "channels-of-packed"},
                           {Rule::pixels_range, "pixels-range"},
                           {Rule::pixels_zero, "pixels-zero"},
                           {Rule::newer_gpu, "newer-gpu"}});
}

// The rule in one sentence, for people.
std::string_view sentence_of(Rule rule);

enum class Says : std::uint8_t {
  forbids,
  allows,
  nothing  // the manual is silent, or the driver was not tested
};

// A rule that the manual and the driver do not both enforce. The manual omits several rules of the
// driver; they were found by comparing the two.
struct Difference {
  Rule rule;
  Says manual, driver;
  std::string_view what;    // what differs, for people
  std::string_view source;  // source for both
};
std::span<const Difference> differences();
// Null if both enforce the rule.
const Difference* difference_of(Rule rule);

Says manual_says(Rule rule);
Says driver_says(Rule rule);

}  // namespace redzone::tma
