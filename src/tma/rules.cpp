#include "tma/rules.h"

namespace redzone::tma {
namespace {

struct Words {
  std::string_view name, sentence;
};

// In the order of the enumerators.
constexpr Words kWords[] = {
    {"data-type", "the data type must be one of CUtensorMapDataType"},
    {"rank", "a descriptor has 1 to 5 dims, one for im2col 3 to 5"},
    {"rank-of-interleave", "an interleaved layout needs at least 3 dims"},
    {"address-alignment",
     "the base address must be a multiple of 16 bytes (of 32 with the 32B interleave and for the "
     "types that are spread over 16 bytes)"},
    {"dim-range", "each dim must be between 1 and 2^32"},
    {"dim-of-packed",
     "dim 0 of a packed type must be a multiple of 128 (16-byte aligned types) or of 2"},
    {"stride-alignment",
     "each stride must be a multiple of 16 bytes (of 32 with the 32B interleave and for the types "
     "that are spread over 16 bytes)"},
    {"stride-range", "each stride must be below 2^40 bytes"},
    {"stride-order", "each stride must be at least as long as what it steps over"},
    {"box-range", "each side of the box must be between 1 and 256 elements"},
    {"box-inner-bytes",
     "without interleave the innermost side of the box must be a multiple of 16 bytes"},
    {"box-of-packed",
     "the innermost side of the box must be 128 for a type that is spread over 16 bytes"},
    {"element-stride-range", "each element stride must be between 1 and 8"},
    {"inner-element-stride", "each element stride must be between 1 and 8, also the one of dim 0"},
    {"interleave", "the interleave must be one of CUtensorMapInterleave"},
    {"interleave-of-packed", "the 6-bit type knows no interleave"},
    {"swizzle", "the swizzle must be one of CUtensorMapSwizzle"},
    {"swizzle-span",
     "with a swizzle and no interleave the innermost side of the box must not be longer than the "
     "span of the swizzle"},
    {"swizzle-of-interleave", "the 32B interleave needs the 32B swizzle"},
    {"swizzle-of-packed", "a type that is spread over 16 bytes knows only some of the swizzles"},
    {"promotion", "the L2 promotion must be one of CUtensorMapL2promotion"},
    {"fill", "the fill must be one of CUtensorMapFloatOOBfill"},
    {"fill-of-type", "only floating-point types can be filled with NaN"},
    {"corner-range",
     "each corner of the pixel box must be within -32768..32767 (3 dims), -128..127 (4 dims) or "
     "-16..15 (5 dims)"},
    {"corner-area", "the pixel box must hold at least one pixel along each dim"},
    {"channels-range", "a pixel has at most 256 channels"},
    {"channels-zero", "a pixel has at least 1 channel"},
    {"channels-bytes", "without interleave the channels of a pixel must be a multiple of 16 bytes"},
    {"channels-of-packed", "a pixel of a type that is spread over 16 bytes has 128 channels"},
    {"pixels-range", "a column has at most 1024 pixels"},
    {"pixels-zero", "a column has at least 1 pixel"},
    {"newer-gpu", "this type or swizzle needs compute capability 10.0"},
};
static_assert(sizeof kWords / sizeof kWords[0] == kRules);

// "Probed" is a call of cuTensorMapEncodeTiled on an H100, driver 580.159.04, CUDA 13.0.
constexpr Difference kDifferences[] = {
    {Rule::stride_order, Says::forbids, Says::allows,
     "overlapping rows, a stride of 0 on a dim larger than 1 and dims in another order than in "
     "memory are encoded",
     "cuda.h gives a formula for globalStrides in which each stride covers the one before; probed: "
     "strides 0 and 16 with 128 x bf16 in a row are encoded, and attention kernels pass (d, "
     "tokens, "
     "heads) with the stride of tokens above that of heads"},
    {Rule::inner_element_stride, Says::nothing, Says::nothing,
     "whether the element stride of dim 0 is looked at without interleave",
     "cuda.h: every element stride is 1 to 8, and the first is ignored without interleave"},
    {Rule::corner_area, Says::forbids, Says::nothing,
     "whether the pixel box is compared with the dims, and in which order its corners are read",
     "cuda.h: the box must have non-zero area, corners in the order {D, H, W}; CUTLASS passes W "
     "first"},
    {Rule::channels_zero, Says::nothing, Says::nothing, "no channels at all",
     "cuda.h gives only the upper limit"},
    {Rule::channels_bytes, Says::nothing, Says::nothing,
     "whether im2col has the 16-byte rule of the tiled box", "cuda.h states it for boxDim only"},
    {Rule::pixels_zero, Says::nothing, Says::nothing, "no pixels at all",
     "cuda.h gives only the upper limit"},
    {Rule::newer_gpu, Says::nothing, Says::nothing,
     "whether packed types and the swizzles with atoms of 32 and 64 bytes are encoded for a GPU "
     "that cannot use them",
     "cuda.h names no compute capability; PTX has them from sm_100 on"},
};

}  // namespace

std::string_view name_of(Rule rule) {
  return kWords[static_cast<std::size_t>(rule)].name;
}

std::string_view sentence_of(Rule rule) {
  return kWords[static_cast<std::size_t>(rule)].sentence;
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
