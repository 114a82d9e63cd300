#include "tma/rules.h"

#include <iterator>

#include "core/error.h"

namespace redzone::tma {
namespace {

struct Sentence {
  Rule rule;
  std::string_view text;
};

constexpr Sentence kSentences[] = {
    {Rule::data_type, "the data type must be one of CUtensorMapDataType"},
    {Rule::rank, "a descriptor has 1 to 5 dims, one for im2col 3 to 5"},
    {Rule::rank_of_interleave, "an interleaved layout needs at least 3 dims"},
    {Rule::address_alignment,
     "the base address must be a multiple of 16 bytes (of 32 with the 32B interleave and for the "
     "types that are spread over 16 bytes)"},
    {Rule::dim_range, "each dim must be between 1 and 2^32"},
    {Rule::dim_of_packed,
     "dim 0 of a packed type must be a multiple of 128 (16-byte aligned types) or of 2"},
    {Rule::stride_alignment,
     "each stride must be a multiple of 16 bytes (of 32 with the 32B interleave and for the types "
     "that are spread over 16 bytes)"},
    {Rule::stride_range, "each stride must be below 2^40 bytes"},
    {Rule::stride_order, "each stride must be at least as long as what it steps over"},
    {Rule::box_range, "each side of the box must be between 1 and 256 elements"},
    {Rule::box_inner_bytes,
     "without interleave the innermost side of the box must be a multiple of 16 bytes"},
    {Rule::interleaved_bytes,
     "with an interleave, too, the innermost side of the box and the channels of a pixel must be a "
     "multiple of 16 bytes"},
    {Rule::box_bytes,
     "what one load brings (the sides of the box, each divided by its element stride, or channels "
     "times pixels) must fit the 228 KiB of shared memory of a multiprocessor"},
    {Rule::box_of_packed,
     "the innermost side of the box must be 128 for a type that is spread over 16 bytes"},
    {Rule::element_stride_range, "each element stride must be between 1 and 8"},
    {Rule::inner_element_stride,
     "each element stride must be between 1 and 8, also the one of dim 0"},
    {Rule::interleave, "the interleave must be one of CUtensorMapInterleave"},
    {Rule::interleave_of_packed, "the 6-bit type cannot be interleaved"},
    {Rule::swizzle, "the swizzle must be one of CUtensorMapSwizzle"},
    {Rule::swizzle_span,
     "with a swizzle and no interleave the innermost side of the box must not be longer than the "
     "span of the swizzle"},
    {Rule::swizzle_of_interleave, "the 32B interleave needs the 32B swizzle"},
    {Rule::swizzle_of_packed,
     "a type that is spread over 16 bytes allows only some of the swizzles"},
    {Rule::promotion, "the L2 promotion must be one of CUtensorMapL2promotion"},
    {Rule::fill, "the fill must be one of CUtensorMapFloatOOBfill"},
    {Rule::fill_of_type, "only floating-point types can be filled with NaN"},
    {Rule::corner_range,
     "each corner of the pixel box must be within -32768..32767 (3 dims), -128..127 (4 dims) or "
     "-16..15 (5 dims)"},
    {Rule::corner_area,
     "the pixel box must hold at least one pixel along each dim, where the driver adds dim and "
     "upper corner in 32 bits, and begins with dim 0 for an interleaved layout"},
    {Rule::channels_range, "a pixel has at most 256 channels"},
    {Rule::channels_zero, "a pixel has at least 1 channel"},
    {Rule::channels_bytes,
     "without interleave the channels of a pixel must be a multiple of 16 bytes"},
    {Rule::channels_of_packed, "a pixel of a type that is spread over 16 bytes has 128 channels"},
    {Rule::pixels_range, "a column has at most 1024 pixels"},
    {Rule::pixels_zero, "a column has at least 1 pixel"},
    {Rule::newer_gpu, "this type or swizzle needs compute capability 10.0"},
};
static_assert(std::size(kSentences) == kEnumTable<Rule>.names.size());

// "Probed" is a call of cuTensorMapEncodeTiled or Im2col on an H100, driver 580.159.04, CUDA 13.0.
constexpr Difference kDifferences[] = {
    {Rule::stride_order, Says::forbids, Says::allows,
     "overlapping rows, a stride of 0 on a dim larger than 1 and dims in another order than in "
     "memory are encoded",
     "cuda.h gives a formula for globalStrides in which each stride covers the one before; probed: "
     "6,000 descriptors with strides in any order, all are encoded; attention kernels pass (d, "
     "tokens, heads) with the stride of tokens above that of heads"},
    {Rule::interleaved_bytes, Says::nothing, Says::forbids,
     "the 16-byte rule of the innermost side of the box holds with an interleave, too",
     "cuda.h states it for CU_TENSOR_MAP_INTERLEAVE_NONE; probed: u8, u16, f32 and f64 with either "
     "interleave, every side from 1 to 256"},
    {Rule::box_bytes, Says::nothing, Says::forbids, "a load of more than 228 KiB is refused",
     "cuda.h limits each side to 256 only; probed: 233472 bytes are encoded and the next larger "
     "boxes are not, whatever type, rank, swizzle and interleave; sides count divided by their "
     "element strides, rounded down"},
    {Rule::inner_element_stride, Says::nothing, Says::forbids,
     "the element stride of dim 0 is checked without interleave, too",
     "cuda.h: every element stride is 1 to 8, and the first is ignored without interleave; probed: "
     "0 and 9 to 11 are refused"},
    {Rule::swizzle_of_interleave, Says::forbids, Says::allows,
     "the 32B interleave is encoded with every swizzle that the GPU has",
     "cuda.h: INTERLEAVE_32B needs SWIZZLE_32B; probed: none, 32B, 64B and 128B are encoded"},
    {Rule::channels_zero, Says::nothing, Says::forbids, "no channels at all are refused",
     "cuda.h gives only the upper limit; probed"},
    {Rule::channels_bytes, Says::nothing, Says::forbids,
     "im2col has the 16-byte rule of the tiled box",
     "cuda.h states it for boxDim only; probed: u8, u16, f32 and f64, 0 to 257 channels"},
    {Rule::pixels_zero, Says::nothing, Says::forbids, "no pixels at all are refused",
     "cuda.h gives only the upper limit; probed"},
    {Rule::newer_gpu, Says::nothing, Says::forbids,
     "packed types and the swizzles with atoms of 32 and 64 bytes are refused for a GPU that "
     "cannot use them",
     "cuda.h names no compute capability; PTX has them from sm_100 on; probed on 9.0"},
};

}  // namespace

std::string_view sentence_of(Rule rule) {
  for (const Sentence& sentence : kSentences)
    if (sentence.rule == rule) return sentence.text;
  RZ_CHECK(false && "a rule without a sentence");
}

std::span<const Difference> differences() {
  return kDifferences;
}

const Difference* difference_of(Rule rule) {
  for (const auto& row : kDifferences)
    if (row.rule == rule) return &row;
  return nullptr;
}

Says manual_says(Rule rule) {
  const Difference* row = difference_of(rule);
  return row == nullptr ? Says::forbids : row->manual;
}

Says driver_says(Rule rule) {
  const Difference* row = difference_of(rule);
  return row == nullptr ? Says::forbids : row->driver;
}

}  // namespace redzone::tma
