// A TMA descriptor as plain values: the arguments of cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col (cuda.h of CUDA 13.0, "Tensor Map Object Management"), without the
// map that they give.
//
// Any value of any field is allowed here, also one that names nothing: telling right from wrong is
// the checker's job. Needs no CUDA header; device/cuda/tensor_map.cpp compares the enumerators with
// those of cuda.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redzone::tma {

inline constexpr std::uint32_t kMaxRank = 5;

enum class DataType : std::uint32_t {
  u8,
  u16,
  u32,
  i32,
  u64,
  i64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  u4x16_align8,   // 16 x U4, packed
  u4x16_align16,  // 16 x U4 in 8 bytes of global memory, in 16 of shared memory
  u6x16_align16,  // 16 x U6 in 12 bytes of global memory, in 16 of shared memory
};
inline constexpr std::uint32_t kDataTypes = 16;

enum class Interleave : std::uint32_t { none, b16, b32 };
inline constexpr std::uint32_t kInterleaves = 3;

enum class Swizzle : std::uint32_t {
  none,
  b32,
  b64,
  b128,
  b128_atom32,
  b128_atom32_flip8,
  b128_atom64
};
inline constexpr std::uint32_t kSwizzles = 7;

enum class Promotion : std::uint32_t { none, b64, b128, b256 };
inline constexpr std::uint32_t kPromotions = 4;

enum class Fill : std::uint32_t { zero, nan };
inline constexpr std::uint32_t kFills = 2;

// Which of the two functions.
enum class Kind : std::uint8_t { tiled, im2col };

// Dim 0 is the innermost. Entries beyond the rank mean nothing.
struct Descriptor {
  Kind kind = Kind::tiled;
  DataType type = DataType::bf16;
  std::uint32_t rank = 1;
  std::uint64_t address = 0;
  std::array<std::uint64_t, 5> dims{1, 1, 1, 1, 1};             // elements
  std::array<std::uint64_t, 4> strides{};                       // bytes; [i] is of dim i + 1
  std::array<std::uint32_t, 5> box{1, 1, 1, 1, 1};              // elements; tiled only
  std::array<std::uint32_t, 5> element_strides{1, 1, 1, 1, 1};  // elements
  std::array<std::int32_t, 3> lower{}, upper{};                 // im2col only; see pixel_dim()
  std::uint32_t channels = 1, pixels = 1;                       // im2col only
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  Promotion promotion = Promotion::none;
  Fill fill = Fill::zero;

  bool operator==(const Descriptor&) const = default;
};

template <class Enum>
constexpr std::uint32_t number(Enum value) {
  return static_cast<std::uint32_t>(value);
}

// Bits of one element in global memory; 8 for a type that is none.
std::uint32_t element_bits(DataType type);
bool is_float(DataType type);
// The types that TMA spreads over 16 bytes; they have rules of their own.
bool is_spread(DataType type);
// Bytes that a swizzle pattern spans; 0 for none and for what is none.
std::uint32_t swizzle_span_bytes(Swizzle swizzle);

// The dim whose pixels the corners [i] are about: the driver begins with dim 1, and with dim 0 for
// an interleaved layout (probed; cuda.h does not say).
inline std::uint32_t pixel_dim(const Descriptor& descriptor, std::uint32_t i) {
  const bool interleaved =
      descriptor.interleave == Interleave::b16 || descriptor.interleave == Interleave::b32;
  return i + (interleaved ? 0 : 1);
}

// What one load brings to shared memory: the sides of the box, each divided by its element stride
// and rounded down as the driver does, or channels times pixels. Nothing where one of these is out
// of its range, or the type is none.
std::optional<std::uint64_t> bytes_of_load(const Descriptor& descriptor);
// The shared memory of a multiprocessor of compute capability 9.0 and 10.0.
inline constexpr std::int64_t kMaxLoadBytes = 228 * 1024;

// "bf16", "128B", ...; the number for what names nothing.
std::string name_of(DataType type);
std::string name_of(Interleave interleave);
std::string name_of(Swizzle swizzle);
std::string name_of(Promotion promotion);
std::string name_of(Fill fill);

// A short name, or a number that fits 32 bits (which may name nothing).
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
