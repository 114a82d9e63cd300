#include "descriptors.h"

#include "prefill_kernels.cuh"

namespace redzone::ragged {
namespace {

constexpr std::int64_t kElementBytes = 2;
// Rules of cuTensorMapEncodeTiled (cuda.h of CUDA 13.0).
constexpr std::int64_t kAlignBytes = 16;
constexpr std::int64_t kMostStrideBytes = (std::int64_t{1} << 40) - 1;

bool is_stride(std::int64_t elems) {
  return elems >= 0 && elems <= kMostStrideBytes / kElementBytes &&
         elems * kElementBytes % kAlignBytes == 0;
}

}  // namespace

Operand Operand::of(const char* name, const TensorArg& tensor, const Rules& rules) {
  Operand o{name, tensor, tensor.strides[0], tensor.strides[1]};
  if (!rules.normalize_unit_strides) return o;
  const std::int64_t width = tensor.shape[2];
  if (tensor.shape[1] == 1) o.head = width;
  if (tensor.shape[0] == 1) o.token = width;
  return o;
}

bool Operand::fits_tma() const {
  return tensor.shape[0] > 0 && reinterpret_cast<std::uintptr_t>(tensor.base) % kAlignBytes == 0 &&
         (tensor.shape[0] == 1 || is_stride(token)) && (tensor.shape[1] == 1 || is_stride(head));
}

// The order of FlashAttention-3: (width, tokens, heads).
tma::Descriptor Operand::descriptor() const {
  tma::Descriptor d;
  d.type = tensor.dtype == DType::bf16 ? tma::DataType::bf16 : tma::DataType::f16;
  d.rank = 3;
  d.address = reinterpret_cast<std::uintptr_t>(tensor.base);
  d.dims = {static_cast<std::uint64_t>(tensor.shape[2]),
            static_cast<std::uint64_t>(tensor.shape[0]),
            static_cast<std::uint64_t>(tensor.shape[1]), 1, 1};
  d.strides = {static_cast<std::uint64_t>(token * kElementBytes),
               static_cast<std::uint64_t>(head * kElementBytes)};
  d.box = {kPanel, kTile, 1, 1, 1};
  d.swizzle = tma::Swizzle::b128;
  d.promotion = tma::Promotion::b256;
  return d;
}

}  // namespace redzone::ragged
