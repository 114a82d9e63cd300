// Names of the fields of a TMA descriptor (redzone/tensor_map.h), and their meaning. Needs no CUDA
// header.
#pragma once

#include <fmt/format.h>
#include <redzone/tensor_map.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/enum_names.h"

namespace redzone::tma {

constexpr auto enum_table(DataType) {
  return enum_names<DataType>("data type", {{DataType::u8, "u8"},
                                            {DataType::u16, "u16"},
                                            {DataType::u32, "u32"},
                                            {DataType::i32, "i32"},
                                            {DataType::u64, "u64"},
                                            {DataType::i64, "i64"},
                                            {DataType::f16, "f16"},
                                            {DataType::f32, "f32"},
                                            {DataType::f64, "f64"},
                                            {DataType::bf16, "bf16"},
                                            {DataType::f32_ftz, "f32_ftz"},
                                            {DataType::tf32, "tf32"},
                                            {DataType::tf32_ftz, "tf32_ftz"},
                                            {DataType::u4x16_align8, "u4x16_align8"},
                                            {DataType::u4x16_align16, "u4x16_align16"},
                                            {DataType::u6x16_align16, "u6x16_align16"}});
}
constexpr auto enum_table(Interleave) {
  return enum_names<Interleave>(
      "interleave",
      {{Interleave::none, "none"}, {Interleave::b16, "16B"}, {Interleave::b32, "32B"}});
}
constexpr auto enum_table(Swizzle) {
  return enum_names<Swizzle>("swizzle", {{Swizzle::none, "none"},
                                         {Swizzle::b32, "32B"},
                                         {Swizzle::b64, "64B"},
                                         {Swizzle::b128, "128B"},
                                         {Swizzle::b128_atom32, "128B_ATOM_32B"},
                                         {Swizzle::b128_atom32_flip8, "128B_ATOM_32B_FLIP_8B"},
                                         {Swizzle::b128_atom64, "128B_ATOM_64B"}});
}
constexpr auto enum_table(Promotion) {
  return enum_names<Promotion>("promotion", {{Promotion::none, "none"},
                                             {Promotion::b64, "64B"},
                                             {Promotion::b128, "128B"},
                                             {Promotion::b256, "256B"}});
}
constexpr auto enum_table(Fill) {
  return enum_names<Fill>("fill", {{Fill::zero, "zero"}, {Fill::nan, "nan"}});
}

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

// A number that fits 32 bits; nothing if the text is none.
std::optional<std::uint32_t> parse_number(std::string_view text);

// "bf16", "128B", ...; the number if it is not an enumerator.
template <NamedEnum Enum>
std::string name_or_number(Enum value) {
  return number(value) < kEnumTable<Enum>.names.size() ? std::string(redzone::name_of(value))
                                                       : std::to_string(number(value));
}

// Parses a name, or a number that fits 32 bits, which need not be of an enumerator.
template <NamedEnum Enum>
std::optional<Enum> parse_name_or_number(std::string_view text) {
  if (const auto named = value_named<Enum>(text)) return named;
  const auto value = parse_number(text);
  return value ? std::optional(static_cast<Enum>(*value)) : std::nullopt;
}

// "bf16, f16, ..." for messages.
template <NamedEnum Enum>
std::string names_of() {
  return fmt::format("{}", fmt::join(texts_of<Enum>(), ", "));
}

// One line for people and tests: "tiled bf16 address 0x10 dims (128,1,32) strides (2,256) ...".
std::string text_of(const Descriptor& descriptor);

}  // namespace redzone::tma
