#include "tma/rules.h"

#include <iterator>

namespace redzone::tma {
namespace {

// In the order of the enumerators.
constexpr std::string_view kSentences[] = {
    "the data type must be one of CUtensorMapDataType",
    "a descriptor has 1 to 5 dims, one for im2col 3 to 5",
    "an interleaved layout needs at least 3 dims",
    "the base address must be a multiple of 16 bytes (of 32 with the 32B interleave and for the "
    "types that are spread over 16 bytes)",
    "each dim must be between 1 and 2^32",
    "dim 0 of a packed type must be a multiple of 128 (16-byte aligned types) or of 2",
    "each stride must be a multiple of 16 bytes (of 32 with the 32B interleave and for the types "
    "that are spread over 16 bytes)",
    "each stride must be below 2^40 bytes",
    "each stride must be at least as long as what it steps over",
    "each side of the box must be between 1 and 256 elements",
    "without interleave the innermost side of the box must be a multiple of 16 bytes",
    "with an interleave, too, the innermost side of the box and the channels of a pixel must be a "
    "multiple of 16 bytes",
    "what one load brings (the sides of the box, each divided by its element stride, or channels "
    "times pixels) must fit the 228 KiB of shared memory of a multiprocessor",
    "the innermost side of the box must be 128 for a type that is spread over 16 bytes",
    "each element stride must be between 1 and 8",
    "each element stride must be between 1 and 8, also the one of dim 0",
    "the interleave must be one of CUtensorMapInterleave",
    "the 6-bit type cannot be interleaved",
    "the swizzle must be one of CUtensorMapSwizzle",
    "with a swizzle and no interleave the innermost side of the box must not be longer than the "
    "span of the swizzle",
    "the 32B interleave needs the 32B swizzle",
    "a type that is spread over 16 bytes allows only some of the swizzles",
    "the L2 promotion must be one of CUtensorMapL2promotion",
    "the fill must be one of CUtensorMapFloatOOBfill",
    "only floating-point types can be filled with NaN",
    "each corner of the pixel box must be within -32768..32767 (3 dims), -128..127 (4 dims) or "
    "-16..15 (5 dims)",
    "the pixel box must hold at least one pixel along each dim, where the driver adds dim and "
    "upper corner in 32 bits, and begins with dim 0 for an interleaved layout",
    "a pixel has at most 256 channels",
    "a pixel has at least 1 channel",
    "without interleave the channels of a pixel must be a multiple of 16 bytes",
    "a pixel of a type that is spread over 16 bytes has 128 channels",
    "a column has at most 1024 pixels",
    "a column has at least 1 pixel",
    "this type or swizzle needs compute capability 10.0",
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
  return kSentences[static_cast<std::size_t>(rule)];
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
