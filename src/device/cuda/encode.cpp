#include "device/cuda/encode.h"

#include <array>
#include <bit>

namespace redzone::device::cuda {
namespace {

using tma::number;

constexpr std::uint32_t kMostRank = TensorMapEncoder::kMostRank;

// redzone/tensor_map.h repeats the values of cuda.h without including it.
static_assert(number(tma::DataType::u8) == CU_TENSOR_MAP_DATA_TYPE_UINT8);
static_assert(number(tma::DataType::u16) == CU_TENSOR_MAP_DATA_TYPE_UINT16);
static_assert(number(tma::DataType::u32) == CU_TENSOR_MAP_DATA_TYPE_UINT32);
static_assert(number(tma::DataType::i32) == CU_TENSOR_MAP_DATA_TYPE_INT32);
static_assert(number(tma::DataType::u64) == CU_TENSOR_MAP_DATA_TYPE_UINT64);
static_assert(number(tma::DataType::i64) == CU_TENSOR_MAP_DATA_TYPE_INT64);
static_assert(number(tma::DataType::f16) == CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
static_assert(number(tma::DataType::f32) == CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
static_assert(number(tma::DataType::f64) == CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
static_assert(number(tma::DataType::bf16) == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
static_assert(number(tma::DataType::f32_ftz) == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ);
static_assert(number(tma::DataType::tf32) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
static_assert(number(tma::DataType::tf32_ftz) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
static_assert(number(tma::DataType::u4x16_align8) == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B);
static_assert(number(tma::DataType::u4x16_align16) == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B);
static_assert(number(tma::DataType::u6x16_align16) == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B);
static_assert(number(tma::Interleave::none) == CU_TENSOR_MAP_INTERLEAVE_NONE);
static_assert(number(tma::Interleave::b16) == CU_TENSOR_MAP_INTERLEAVE_16B);
static_assert(number(tma::Interleave::b32) == CU_TENSOR_MAP_INTERLEAVE_32B);
static_assert(number(tma::Swizzle::none) == CU_TENSOR_MAP_SWIZZLE_NONE);
static_assert(number(tma::Swizzle::b32) == CU_TENSOR_MAP_SWIZZLE_32B);
static_assert(number(tma::Swizzle::b64) == CU_TENSOR_MAP_SWIZZLE_64B);
static_assert(number(tma::Swizzle::b128) == CU_TENSOR_MAP_SWIZZLE_128B);
static_assert(number(tma::Swizzle::b128_atom32) == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B);
static_assert(number(tma::Swizzle::b128_atom32_flip8) ==
              CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B);
static_assert(number(tma::Swizzle::b128_atom64) == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
static_assert(number(tma::Promotion::none) == CU_TENSOR_MAP_L2_PROMOTION_NONE);
static_assert(number(tma::Promotion::b64) == CU_TENSOR_MAP_L2_PROMOTION_L2_64B);
static_assert(number(tma::Promotion::b128) == CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
static_assert(number(tma::Promotion::b256) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(number(tma::Fill::zero) == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
static_assert(number(tma::Fill::nan) == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);

// A copy with room for every rank up to kMostRank.
template <class To, class From, std::size_t N>
std::array<To, kMostRank> padded(const std::array<From, N>& values) {
  std::array<To, kMostRank> out{};
  for (std::size_t i = 0; i < N; ++i) out[i] = static_cast<To>(values[i]);
  return out;
}

// Converts the value as it is, because values without an enumerator must reach the driver, too.
template <class Enum>
Enum raw(std::uint32_t value) {
  return std::bit_cast<Enum>(value);
}

}  // namespace

CUresult encode(const DriverApi& api, const tma::Descriptor& d, CUtensorMap& map) {
  const auto dims = padded<cuuint64_t>(d.dims);
  const auto strides = padded<cuuint64_t>(d.strides);
  const auto element_strides = padded<cuuint32_t>(d.element_strides);
  // The driver takes the address as a pointer to non-const memory, but must not write to it.
  void* address = reinterpret_cast<void*>(d.address);
  const auto type = raw<CUtensorMapDataType>(number(d.type));
  const auto interleave = raw<CUtensorMapInterleave>(number(d.interleave));
  const auto swizzle = raw<CUtensorMapSwizzle>(number(d.swizzle));
  const auto promotion = raw<CUtensorMapL2promotion>(number(d.promotion));
  const auto fill = raw<CUtensorMapFloatOOBfill>(number(d.fill));
  if (d.kind == tma::Kind::im2col) {
    const auto lower = padded<int>(d.lower), upper = padded<int>(d.upper);
    return api.tensor_map_encode_im2col(
        &map, type, d.rank, address, dims.data(), strides.data(), lower.data(), upper.data(),
        d.channels, d.pixels, element_strides.data(), interleave, swizzle, promotion, fill);
  }
  const auto box = padded<cuuint32_t>(d.box);
  return api.tensor_map_encode_tiled(&map, type, d.rank, address, dims.data(), strides.data(),
                                     box.data(), element_strides.data(), interleave, swizzle,
                                     promotion, fill);
}

}  // namespace redzone::device::cuda
