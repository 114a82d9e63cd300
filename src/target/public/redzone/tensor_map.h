// A TMA descriptor as plain values, and the opaque map that kernels receive.
//
// The values are the arguments of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col (cuda.h of
// CUDA 13.0, "Tensor Map Object Management"). Any value of any field is allowed here, even without
// an enumerator: encoding determines which are valid. Enumerators have the numbers of cuda.h;
// device/cuda/encode.cpp compares them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace redzone {

// Like CUtensorMap: 128 bytes, aligned to 64. Passed to a kernel by value, as `const
// __grid_constant__ redzone::TensorMap map`. All zero until encoded; a failed encode leaves it
// unchanged.
struct alignas(64) TensorMap {
  unsigned char bytes[128] = {};
};

// The result of Context::encode_tiled().
struct EncodeStatus {
  int code = 0;     // the CUresult: 0 encoded, 1 (CUDA_ERROR_INVALID_VALUE) refused
  std::string why;  // "stride-alignment: ...", for people; empty if encoded
  explicit operator bool() const { return code == 0; }
};

namespace tma {

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

// Selects one of the two encode functions.
enum class Kind : std::uint8_t { tiled, im2col };

// Dim 0 is the innermost. Entries beyond the rank are ignored.
struct Descriptor {
  Kind kind = Kind::tiled;
  DataType type = DataType::bf16;
  std::uint32_t rank = 1;
  std::uint64_t address = 0;
  std::array<std::uint64_t, 5> dims{1, 1, 1, 1, 1};             // elements
  std::array<std::uint64_t, 4> strides{};                       // bytes; [i] is of dim i + 1
  std::array<std::uint32_t, 5> box{1, 1, 1, 1, 1};              // elements; tiled only
  std::array<std::uint32_t, 5> element_strides{1, 1, 1, 1, 1};  // elements
  std::array<std::int32_t, 3> lower{}, upper{};                 // im2col only; of the pixel dims
  std::uint32_t channels = 1, pixels = 1;                       // im2col only
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  Promotion promotion = Promotion::none;
  Fill fill = Fill::zero;

  bool operator==(const Descriptor&) const = default;
};

}  // namespace tma
}  // namespace redzone
