// Names of the fields of a TMA descriptor (redzone/tensor_map.h), and their meaning. Needs no CUDA
// header.
#pragma once

#include <redzone/tensor_map.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redzone::tma {

template <class Enum>
constexpr std::uint32_t number(Enum value) {
  return static_cast<std::uint32_t>(value);
}

// Bits of one element in global memory; 8 for an invalid type.
std::uint32_t element_bits(DataType type);
bool is_float(DataType type);
// Types that TMA spreads over 16 bytes; separate rules apply to them.
bool is_spread(DataType type);
// Bytes that a swizzle pattern spans; 0 for none and for an invalid value.
std::uint32_t swizzle_span_bytes(Swizzle swizzle);

// The dim of the pixels that corner [i] refers to. The driver counts from dim 1, or from dim 0 for
// an interleaved layout (probed; not documented in cuda.h).
inline std::uint32_t pixel_dim(const Descriptor& descriptor, std::uint32_t i) {
  const bool interleaved =
      descriptor.interleave == Interleave::b16 || descriptor.interleave == Interleave::b32;
  return i + (interleaved ? 0 : 1);
}

// Bytes that one load writes to shared memory: the product of the sides of the box, each divided by
// its element stride and rounded down as the driver does; or channels times pixels. Nullopt if one
// of these is out of range, or the type is invalid.
std::optional<std::uint64_t> bytes_of_load(const Descriptor& descriptor);
// The shared memory of a multiprocessor of compute capability 9.0 and 10.0.
inline constexpr std::int64_t kMaxLoadBytes = 228 * 1024;

// "bf16", "128B", ...; the number if it is not an enumerator.
std::string name_of(DataType type);
std::string name_of(Interleave interleave);
std::string name_of(Swizzle swizzle);
std::string name_of(Promotion promotion);
std::string name_of(Fill fill);

// Parses a short name, or a number that fits 32 bits (which need not be an enumerator).
std::optional<DataType> parse_data_type(std::string_view text);
std::optional<Interleave> parse_interleave(std::string_view text);
std::optional<Swizzle> parse_swizzle(std::string_view text);
std::optional<Promotion> parse_promotion(std::string_view text);
std::optional<Fill> parse_fill(std::string_view text);
// "bf16, f16, ..." for messages.
std::string data_type_names();
std::string swizzle_names();

// One line for people and tests: "tiled bf16 address 0x10 dims (128,1,32) strides (2,256) ...".
std::string text_of(const Descriptor& descriptor);

}  // namespace redzone::tma
