// Parses the block that a program prints when a TMA descriptor cannot be encoded.
//
// CUTLASS, FlashAttention-3, FlashInfer (its FA3 kernels) and TileLang print, one to a line,
//
//     TMA Desc Addr, format, dim, gmem_address, globalDim, globalStrides, boxDim, elementStrides,
//     interleave, swizzle, l2Promotion, oobFill
//
// each with its value; then "Error: Failed to initialize the TMA descriptor CODE". Lists are in
// parentheses or brackets, innermost dim first, mostly with 5 entries regardless of the rank.
// globalStrides begins with the size of an element, which is not an argument of the encoder. For
// im2col, smem_box_pixel, smem_box_channel, pixelBoxLowerCorner and pixelBoxUpperCorner replace
// boxDim. FlashInfer's kernels of TensorRT-LLM print "Error: Failed to initialize the TMA
// descriptor due to REASON", then
//
//     tmaFormat: N dim: N gmem: 0x.. / Shape: .. / Stride: .. / tileShapes: .. / tileStrides: .. /
//     swizzleType: N
//
// where lists extend beyond the rank into uninitialized memory, and Stride begins with dim 1.
//
// Log prefixes, several fields on a line, escaped newlines and names after numbers are supported;
// any bytes are accepted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redzone::tma {

enum class Field : std::uint8_t {
  map_address,
  type,
  rank,
  address,
  dims,
  strides,
  box,
  element_strides,
  interleave,
  swizzle,
  promotion,
  fill,
  lower,
  upper,
  channels,
  pixels,
};
inline constexpr std::size_t kFields = 16;

struct FieldValue {
  enum class State : std::uint8_t {
    good,
    damaged,  // not a number, a number beyond 64 bits, or text in between
    pointer   // a list was printed as the address of the array
  };
  State state = State::good;
  // Two's complement if negative; at most kMaxNumbers.
  std::vector<std::uint64_t> numbers;
};
inline constexpr std::size_t kMaxNumbers = 8;

// The code is a CUresult, or -1 if only the driver's message is known.
struct Outcome {
  int code = -1;
  std::string words;
};

struct Block {
  std::size_t line = 0;  // first line of the block, from 1
  std::array<std::optional<FieldValue>, kFields> fields;
  // The first stride belongs to dim 1 instead of dim 0.
  bool strides_from_dim_1 = false;
  // Several programs printed interleaved, and the fields in this set have more than one value;
  // which values belong together is unknown.
  std::array<bool, kFields> mixed{};
  std::optional<Outcome> outcome;

  const std::optional<FieldValue>& operator[](Field field) const {
    return fields[static_cast<std::size_t>(field)];
  }
};

// Calls `visit` for each block, in the order of the text.
void find_blocks(std::string_view text, const std::function<void(const Block&)>& visit);

// The numbers of "1,2,3", "(1, 2)", "[1 2]", "0x10" or "-4".
FieldValue parse_numbers(std::string_view text);

}  // namespace redzone::tma
