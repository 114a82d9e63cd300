#include "tma/overflow.h"

namespace redzone::tma {
namespace {

// The product if it fits 63 bits, as every plausible stride does.
std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out) || (out >> 63) != 0) return std::nullopt;
  return out;
}

std::uint64_t as_int32(std::uint64_t value) {
  return static_cast<std::uint64_t>(
      static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(value))));
}

// True if `stride` is the result of computing `bytes` with a 32-bit product.
bool is_left_of(std::uint64_t stride, std::uint64_t bytes, std::uint32_t bits) {
  if (stride == bytes) return false;
  if (stride == as_int32(bytes) || stride == static_cast<std::uint32_t>(bytes)) return true;
  const std::uint64_t elements = bytes * 8 / bits;
  for (const std::uint64_t wrapped :
       {as_int32(elements), std::uint64_t{static_cast<std::uint32_t>(elements)}}) {
    // The conversion of elements to bytes in 64 bits: multiplied by the size, or multiplied by the
    // bits and divided by 8 (which turns a negative number into a huge positive one).
    if (stride == wrapped * (bits / 8) || stride == wrapped * bits / 8) return true;
  }
  return false;
}

}  // namespace

std::optional<std::uint64_t> stride_before_overflow(const Descriptor& d, std::uint32_t dim) {
  const std::uint32_t bits = element_bits(d.type);
  if (bits < 8 || dim == 0 || dim >= d.rank || d.rank > kMaxRank) return std::nullopt;
  const std::uint64_t stride = d.strides[dim - 1];
  // Dense tensor: the product of all dims below.
  std::optional<std::uint64_t> dense = bits / 8;
  for (std::uint32_t i = 0; i < dim && dense; ++i) dense = product(*dense, d.dims[i]);
  if (dense && is_left_of(stride, *dense, bits)) return dense;
  // Padded tensor: the stride below, before its own overflow, times its dim.
  if (dim >= 2) {
    const auto below = stride_before_overflow(d, dim - 1).value_or(d.strides[dim - 2]);
    const auto padded = product(below, d.dims[dim - 1]);
    if (padded && is_left_of(stride, *padded, bits)) return padded;
  }
  return std::nullopt;
}

}  // namespace redzone::tma
