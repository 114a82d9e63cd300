// Draws legal descriptors; every value is often at the edge of its legal range.
#include <algorithm>

#include "core/round_up.h"
#include "generators/internal/descriptor_parts.h"

namespace redzone::generators {
namespace {

using tma::DataType;
using tma::Descriptor;
using tma::Interleave;
using tma::Kind;
using tma::Swizzle;

constexpr std::uint64_t kMaxDim = std::uint64_t{1} << 32;
constexpr std::uint64_t kMaxPixelDim = (std::uint64_t{1} << 31) - 1;
constexpr std::uint64_t kMaxStride = std::uint64_t{1} << 40;  // excluded

std::uint64_t log_uniform(Draw& draw, std::uint64_t most) {
  return static_cast<std::uint64_t>(draw.log_uniform(1, static_cast<std::int64_t>(most)));
}

// Rarely draws the types and swizzles that only newer GPUs support.
template <class Enum>
Enum draw_enum(Draw& draw, std::uint32_t count, std::uint32_t common) {
  const std::uint32_t limit = draw.one_in(4) ? count : common;
  return static_cast<Enum>(draw.index(limit));
}

void draw_modes(Draw& draw, Descriptor& d) {
  d.kind = draw.one_in(4) ? Kind::im2col : Kind::tiled;
  d.rank = static_cast<std::uint32_t>(draw.in_range(d.kind == Kind::im2col ? 3 : 1, 5));
  d.type = draw_enum<DataType>(draw, tma::kDataTypes, number(DataType::u4x16_align8));
  d.swizzle = draw_enum<Swizzle>(draw, tma::kSwizzles, number(Swizzle::b128_atom32));
  const bool may_interleave = d.rank >= 3 && d.type != DataType::u6x16_align16;
  if (may_interleave && draw.one_in(4)) {
    d.interleave = draw.one_in(2) || tma::is_spread(d.type) ? Interleave::b16 : Interleave::b32;
    if (d.interleave == Interleave::b32) d.swizzle = Swizzle::b32;
  }
  if (tma::is_spread(d.type)) {
    constexpr Swizzle known[] = {Swizzle::none, Swizzle::b128, Swizzle::b128_atom32,
                                 Swizzle::b128_atom64};
    d.swizzle = known[draw.index(d.type == DataType::u6x16_align16 ? 4 : 3)];
  }
  d.promotion = static_cast<tma::Promotion>(draw.index(tma::kPromotions));
  if (tma::is_float(d.type) && draw.one_in(3)) d.fill = tma::Fill::nan;
}

std::uint64_t draw_address(Draw& draw, std::uint64_t unit) {
  switch (draw.index(4)) {
    case 0:
      return unit;
    case 1:
      return unit * (2 * log_uniform(draw, std::uint64_t{1} << 40) + 1);
    case 2:
      return draw.one_in(4) ? 0 : (std::uint64_t{1} << 47) - unit;
    default:
      return 0x7f0000000000 + unit * log_uniform(draw, std::uint64_t{1} << 30);
  }
}

std::uint64_t draw_tensor_dim(Draw& draw, std::uint64_t multiple, std::uint64_t most) {
  constexpr int weights[] = {25, 5, 5, 25, 40};
  std::uint64_t dim = 1;
  switch (draw.weighted(weights)) {
    case 0:
      break;
    case 1:
      dim = most;
      break;
    case 2:
      dim = most - 1;
      break;
    case 3:
      dim = std::uint64_t{1} << draw.in_range(0, 32);
      break;
    default:
      dim = log_uniform(draw, most);
  }
  return std::clamp(dim / multiple * multiple, multiple, most);
}

// Dim 0 must be a multiple of this number.
std::uint64_t inner_multiple(const Descriptor& d) {
  if (tma::is_spread(d.type)) return 128;
  return d.type == DataType::u4x16_align8 ? 2 : 1;
}

void draw_dims(Draw& draw, Descriptor& d) {
  const std::uint64_t inner = inner_multiple(d);
  for (std::uint32_t i = 0; i < d.rank; ++i) {
    const std::uint32_t first = pixel_dim(d, 0);
    const bool pixels = d.kind == Kind::im2col && i >= first && i < first + d.rank - 2;
    d.dims[i] = draw_tensor_dim(draw, i == 0 ? inner : 1, pixels ? kMaxPixelDim : kMaxDim);
  }
}

std::uint64_t draw_stride(Draw& draw, std::uint64_t unit, std::uint64_t dense) {
  constexpr int weights[] = {40, 15, 10, 10, 25};
  switch (draw.weighted(weights)) {
    case 0:
      return std::min(round_up(dense, unit), kMaxStride - unit);
    case 1:
      return unit;
    case 2:
      return 0;
    case 3:
      return kMaxStride - unit;
    default:
      return unit * log_uniform(draw, kMaxStride / unit - 1);
  }
}

void draw_strides(Draw& draw, Descriptor& d) {
  const std::uint64_t unit = tma_alignment(d);
  std::uint64_t dense = std::min(d.dims[0], kMaxDim) * element_bits(d.type) / 8;
  for (std::uint32_t i = 0; i + 1 < d.rank; ++i) {
    d.strides[i] = draw_stride(draw, unit, dense);
    // Both factors are below 2^41; they are clamped so that the product fits in 64 bits.
    dense = std::min(d.strides[i], kMaxStride >> 8) * std::min<std::uint64_t>(d.dims[i + 1], 4096);
  }
}

std::uint32_t draw_side(Draw& draw, std::uint32_t least, std::uint32_t most) {
  switch (draw.index(4)) {
    case 0:
      return least;
    case 1:
      return most;
    default:
      return static_cast<std::uint32_t>(draw.in_range(least, most));
  }
}

std::uint32_t draw_inner(Draw& draw, const Descriptor& d) {
  const InnerBox inner = inner_box(d);
  return inner.step * draw_side(draw, 1, inner.most / inner.step);
}

// Makes the bounding box contain a pixel. The driver adds dim and upper corner in 32 bits: the sum
// mostly stays below 2^31, and occasionally it wraps around to a legal value.
void keep_a_pixel(Draw& draw, Descriptor& d, std::uint32_t i) {
  std::uint64_t& dim = d.dims[pixel_dim(d, i)];
  const std::int64_t shrink = std::int64_t{d.lower[i]} - d.upper[i];
  if (shrink > 0 && static_cast<std::uint64_t>(shrink) >= dim) std::swap(d.lower[i], d.upper[i]);
  const std::int64_t grown = std::int64_t{d.upper[i]} - d.lower[i];
  const std::uint64_t multiple = pixel_dim(d, i) == 0 ? inner_multiple(d) : 1;
  if (grown >= 2 && multiple == 1 && draw.one_in(16))
    dim = kMaxDim - static_cast<std::uint64_t>(draw.in_range(1, grown - 1));
  else
    dim = std::min(dim, kMaxPixelDim - static_cast<std::uint64_t>(std::max(d.upper[i], 0))) /
          multiple * multiple;
}

void draw_pixels(Draw& draw, Descriptor& d) {
  constexpr std::int32_t lows[] = {-32768, -128, -16};
  const std::int32_t low = lows[d.rank - 3], high = -low - 1;
  for (std::uint32_t i = 0; i + 2 < d.rank; ++i) {
    const bool small = draw.one_in(2);
    d.lower[i] = static_cast<std::int32_t>(small ? draw.in_range(-3, 0) : draw.in_range(low, high));
    d.upper[i] = static_cast<std::int32_t>(small ? draw.in_range(-3, 0) : draw.in_range(low, high));
    if (draw.one_in(8)) d.lower[i] = low;
    if (draw.one_in(8)) d.upper[i] = high;
    keep_a_pixel(draw, d, i);
  }
  d.channels = draw_inner(draw, d);
  d.pixels = draw_side(draw, 1, 1024);
  fit_load(d);
}

}  // namespace

std::uint64_t tma_alignment(const Descriptor& d) {
  return d.interleave == Interleave::b32 || tma::is_spread(d.type) ? 32 : 16;
}

InnerBox inner_box(const Descriptor& d) {
  if (tma::is_spread(d.type)) return {128, 128};
  const std::uint32_t bits = element_bits(d.type);
  const bool plain = d.interleave == Interleave::none;
  const std::uint32_t span = plain ? swizzle_span_bytes(d.swizzle) : 0;
  const std::uint32_t most = span == 0 ? 256 : std::min<std::uint32_t>(span * 8 / bits, 256);
  return {128 / bits, most};
}

void fit_load(Descriptor& d) {
  const auto too_large = [&] { return bytes_of_load(d).value_or(0) > tma::kMaxLoadBytes; };
  while (too_large()) {
    if (d.kind == Kind::im2col) {
      d.pixels /= 2;
    } else {
      auto& largest = *std::max_element(d.box.begin() + 1, d.box.begin() + d.rank);
      largest /= 2;
    }
  }
}

Descriptor draw_legal_descriptor(Draw& draw) {
  Descriptor d;
  draw_modes(draw, d);
  d.address = draw_address(draw, tma_alignment(d));
  draw_dims(draw, d);
  draw_strides(draw, d);
  for (std::uint32_t i = 0; i < d.rank; ++i)
    if (draw.one_in(3)) d.element_strides[i] = draw_side(draw, 1, 8);
  if (d.kind == Kind::im2col) {
    draw_pixels(draw, d);
    return d;
  }
  for (std::uint32_t i = 1; i < d.rank; ++i) d.box[i] = draw_side(draw, 1, 256);
  d.box[0] = draw_inner(draw, d);
  fit_load(d);
  return d;
}

}  // namespace redzone::generators
