// One way to break each rule of TMA descriptors.
#include <algorithm>
#include <optional>

#include "generators/internal/descriptor_parts.h"

namespace redzone::generators {
namespace {

using tma::DataType;
using tma::Descriptor;
using tma::Interleave;
using tma::Kind;
using tma::Rule;
using tma::Swizzle;

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};
constexpr std::uint32_t kAllBits32 = ~std::uint32_t{0};

class Breaker {
 public:
  Breaker(Draw& draw, Descriptor& descriptor) : draw_(draw), d_(descriptor) {}

  // NOLINTNEXTLINE(readability-function-size): one case for each rule
  bool apply(Rule rule) {
    switch (rule) {
      case Rule::data_type:
        return unknown(d_.type, tma::kDataTypes);
      case Rule::rank:
        return rank();
      case Rule::rank_of_interleave:
        return rank_of_interleave();
      case Rule::address_alignment:
        d_.address += past_alignment();
        return true;
      case Rule::dim_range:
        return dim_range();
      case Rule::dim_of_packed:
        return dim_of_packed();
      case Rule::stride_alignment:
        return stride_alignment();
      case Rule::stride_range:
        return stride_range();
      case Rule::stride_order:
      case Rule::newer_gpu:
        return false;  // legal descriptors often break these
      case Rule::box_range:
        return box_range();
      case Rule::box_inner_bytes:
        return tiled() && inner_bytes(d_.box[0]);
      case Rule::interleaved_bytes:
        return interleaved() && part_of_16_bytes(tiled() ? d_.box[0] : d_.channels);
      case Rule::box_bytes:
        return box_bytes();
      case Rule::box_of_packed:
        return tiled() && of_packed(d_.box[0]);
      case Rule::element_stride_range:
        return element_stride_range();
      case Rule::inner_element_stride:
        if (interleaved()) return false;
        d_.element_strides[0] = outside(1, 8);
        return true;
      case Rule::interleave:
        // An interleaved layout stores the pixels in other dims.
        return d_.type != DataType::u6x16_align16 && (tiled() || !interleaved()) &&
               unknown(d_.interleave, tma::kInterleaves);
      case Rule::interleave_of_packed:
        if (!tiled() || d_.type != DataType::u6x16_align16 || d_.rank < 3) return false;
        d_.interleave = Interleave::b16;
        return true;
      case Rule::swizzle:
        return !spread() && d_.interleave != Interleave::b32 && unknown(d_.swizzle, tma::kSwizzles);
      case Rule::swizzle_span:
        return swizzle_span();
      case Rule::swizzle_of_interleave:
        if (d_.interleave != Interleave::b32) return false;
        d_.swizzle = draw_.one_in(2) ? Swizzle::none : Swizzle::b64;
        return true;
      case Rule::swizzle_of_packed:
        if (!spread()) return false;
        d_.swizzle = Swizzle::b128_atom32_flip8;
        return true;
      case Rule::promotion:
        return unknown(d_.promotion, tma::kPromotions);
      case Rule::fill:
        return unknown(d_.fill, tma::kFills);
      case Rule::fill_of_type:
        if (tma::is_float(d_.type)) return false;
        d_.fill = tma::Fill::nan;
        return true;
      case Rule::corner_range:
        return corner_range();
      case Rule::corner_area:
        return corner_area();
      case Rule::channels_range:
        return channels_range();
      case Rule::channels_zero:
        if (tiled() || spread()) return false;
        d_.channels = 0;
        return true;
      case Rule::channels_bytes:
        return !tiled() && inner_bytes(d_.channels);
      case Rule::channels_of_packed:
        return !tiled() && of_packed(d_.channels);
      case Rule::pixels_range:
        if (tiled()) return false;
        d_.pixels = draw_.one_in(2) ? 1025 : draw_.one_in(2) ? 2048 : kAllBits32;
        return true;
      case Rule::pixels_zero:
        if (tiled()) return false;
        d_.pixels = 0;
        return true;
    }
    return false;
  }

 private:
  bool tiled() const { return d_.kind == Kind::tiled; }
  bool spread() const { return tma::is_spread(d_.type); }
  bool interleaved() const { return d_.interleave != Interleave::none; }
  // True if dim, box and stride have a meaning: an earlier break may have left an invalid rank.
  bool ranked() const { return d_.rank >= (tiled() ? 1u : 3u) && d_.rank <= tma::kMaxRank; }

  template <class Enum>
  bool unknown(Enum& value, std::uint32_t count) {
    const std::uint32_t values[] = {count, count + 1, 255, kAllBits32};
    value = static_cast<Enum>(draw_.pick(values));
    return true;
  }

  std::uint32_t outside(std::uint32_t low, std::uint32_t high) {
    const std::uint32_t values[] = {low - 1, high + 1, high + 1, 2 * high, kAllBits32};
    return draw_.pick(values);
  }

  // Returns an offset that is not a multiple of the alignment but mostly divisible by a large power
  // of two.
  std::uint64_t past_alignment() {
    const std::uint64_t unit = tma_alignment(d_);
    const std::uint64_t values[] = {unit / 2, unit / 2, 4, 2, 1, unit - 1};
    return draw_.pick(values);
  }

  bool rank() {
    const std::uint32_t values[] = {0, 6, 7, 8, tiled() ? 0u : 1u, tiled() ? 6u : 2u};
    d_.rank = draw_.pick(values);
    return true;
  }

  bool rank_of_interleave() {
    if (!tiled() || !ranked() || d_.type == DataType::u6x16_align16) return false;
    d_.rank = static_cast<std::uint32_t>(draw_.in_range(1, 2));
    if (!interleaved()) d_.interleave = Interleave::b16;
    fit_load(d_);
    return true;
  }

  bool dim_range() {
    if (!ranked()) return false;
    const bool packed = spread() || d_.type == DataType::u4x16_align8;
    const std::size_t least = packed ? 1 : 0;
    if (least >= d_.rank) return false;
    const std::uint64_t values[] = {
        0,       0, (std::uint64_t{1} << 32) + 1, std::uint64_t{1} << 33, std::uint64_t{1} << 63,
        kAllBits};
    const std::size_t dim = least + draw_.index(d_.rank - least);
    d_.dims[dim] = draw_.pick(values);
    return true;
  }

  bool dim_of_packed() {
    const std::uint64_t dims[] = {64, 127, 129, 192, 1};
    if (spread())
      d_.dims[0] = draw_.pick(dims);
    else if (d_.type == DataType::u4x16_align8)
      d_.dims[0] = 2 * draw_.index(1000) + 1;
    else
      return false;
    return true;
  }

  // A stride that can break a rule; null if the descriptor has no strides.
  std::uint64_t* some_stride() {
    return ranked() && d_.rank > 1 ? &d_.strides[draw_.index(d_.rank - 1)] : nullptr;
  }

  bool stride_alignment() {
    std::uint64_t* stride = some_stride();
    if (stride == nullptr) return false;
    const std::uint64_t unit = tma_alignment(d_);
    *stride = *stride / unit * unit + past_alignment();
    if (draw_.one_in(3)) *stride = past_alignment();
    return true;
  }

  bool stride_range() {
    std::uint64_t* stride = some_stride();
    if (stride == nullptr) return false;
    constexpr std::uint64_t limit = std::uint64_t{1} << 40;
    const std::uint64_t values[] = {limit, limit + 32, 2 * limit, std::uint64_t{1} << 63,
                                    // negative, and the result of an overflowing 32-bit product
                                    0 - std::uint64_t{32} * (1 + draw_.index(1 << 20)),
                                    0xffffffff80000000, 0x1fffffff80000000};
    *stride = draw_.pick(values);
    return true;
  }

  bool box_range() {
    if (!tiled() || !ranked()) return false;
    const std::size_t side = draw_.index(d_.rank);
    if (side > 0) {
      d_.box[side] = outside(1, 256);
      return true;
    }
    if (spread()) return false;
    const InnerBox inner = inner_box(d_);
    const bool larger = inner.most == 256 && draw_.one_in(2) &&
                        (interleaved() || swizzle_span_bytes(d_.swizzle) == 0);
    d_.box[0] = larger ? 256 + inner.step : 0;
    return true;
  }

  bool inner_bytes(std::uint32_t& elements) { return !interleaved() && part_of_16_bytes(elements); }

  bool part_of_16_bytes(std::uint32_t& elements) {
    if (spread() || number(d_.type) >= tma::kDataTypes) return false;
    const InnerBox inner = inner_box(d_);
    const std::uint32_t values[] = {inner.step / 2, inner.step - 1, 1, inner.most - inner.step / 2};
    elements = draw_.pick(values);
    fit_load(d_);
    return true;
  }

  // Makes the load exceed the limit by the fewest rows or pixels, or by many.
  bool box_bytes() {
    const auto one_row = bytes_of_row();
    if (!one_row) return false;
    const auto rows = static_cast<std::uint32_t>(tma::kMaxLoadBytes / *one_row) + 1;
    if (!tiled()) {
      if (rows > 1024) return false;
      d_.pixels = draw_.one_in(2) ? rows : 1024;
      return true;
    }
    const std::uint32_t all = d_.rank > 2 ? 256 * 256 : 256;
    if (d_.rank < 2 || rows > all) return false;
    for (std::uint32_t i = 1; i < d_.rank; ++i) d_.element_strides[i] = 1;
    d_.box[1] = std::min(rows, 256u);
    if (d_.rank == 2) return true;
    const std::uint32_t least = (rows + d_.box[1] - 1) / d_.box[1];
    d_.box[2] = draw_.one_in(2) ? least : 256;
    return true;
  }

  // Bytes that a load of one row of the box, or of one pixel, takes.
  std::optional<std::uint64_t> bytes_of_row() const {
    if (!ranked()) return std::nullopt;
    Descriptor one = d_;
    one.pixels = 1;
    for (std::size_t i = 1; i < one.box.size(); ++i) one.box[i] = one.element_strides[i] = 1;
    const auto bytes = bytes_of_load(one);
    return bytes && *bytes > 0 ? bytes : std::nullopt;
  }

  bool of_packed(std::uint32_t& elements) {
    if (!spread()) return false;
    elements = 64;
    return true;
  }

  bool element_stride_range() {
    const std::size_t least = interleaved() ? 0 : 1;
    if (!ranked() || least >= d_.rank) return false;
    d_.element_strides[least + draw_.index(d_.rank - least)] = outside(1, 8);
    return true;
  }

  bool swizzle_span() {
    if (spread() || interleaved() || swizzle_span_bytes(d_.swizzle) == 0) return false;
    if (number(d_.type) >= tma::kDataTypes) return false;
    const InnerBox inner = inner_box(d_);
    if (inner.most + inner.step > 256) return false;
    const std::uint32_t most = (256 - inner.most) / inner.step;
    const std::uint32_t steps =
        draw_.one_in(2) ? 1 : static_cast<std::uint32_t>(draw_.in_range(1, most));
    (tiled() ? d_.box[0] : d_.channels) = inner.most + steps * inner.step;
    fit_load(d_);
    return true;
  }

  std::int32_t lowest_corner() const {
    constexpr std::int32_t lows[] = {-32768, -128, -16};
    return lows[d_.rank - 3];
  }

  bool corner_range() {
    if (tiled() || !ranked()) return false;
    const std::int32_t low = lowest_corner();
    const auto i = static_cast<std::uint32_t>(draw_.index(d_.rank - 2));
    const std::int32_t by = draw_.one_in(2) ? 1 : static_cast<std::int32_t>(draw_.in_range(2, 999));
    // Move the corner outwards, so that the box grows; the dim leaves room for the growth.
    auto& dim = d_.dims[pixel_dim(d_, i)];
    dim = std::min<std::uint64_t>(dim, std::uint64_t{1} << 30);
    if (draw_.one_in(2))
      d_.lower[i] = low - by;
    else
      d_.upper[i] = -low - 1 + by;
    return true;
  }

  bool corner_area() {
    if (tiled() || !ranked()) return false;
    const auto i = static_cast<std::uint32_t>(draw_.index(d_.rank - 2));
    const std::uint32_t at = pixel_dim(d_, i);
    if (at == 0 && (spread() || d_.type == DataType::u4x16_align8)) return false;
    if (draw_.one_in(2)) {  // a sum that wraps around at 2^31
      const auto outer = static_cast<std::int32_t>(draw_.in_range(0, 15));
      constexpr std::uint64_t limit = std::uint64_t{1} << 31;
      d_.lower[i] = 0;
      d_.upper[i] = outer;
      d_.dims[at] = draw_.one_in(2) ? limit - static_cast<std::uint64_t>(outer) : limit;
      return true;
    }
    const auto dim = static_cast<std::int32_t>(draw_.in_range(1, 8));
    d_.dims[at] = static_cast<std::uint64_t>(dim);
    d_.lower[i] = static_cast<std::int32_t>(draw_.in_range(0, 7));
    d_.upper[i] = d_.lower[i] - dim;
    return true;
  }

  bool channels_range() {
    if (tiled() || spread() || d_.interleave == Interleave::b32) return false;
    if (!interleaved()) d_.swizzle = Swizzle::none;
    d_.channels = 256 + inner_box(d_).step;
    return true;
  }

  Draw& draw_;
  Descriptor& d_;
};

}  // namespace

bool break_rule(Draw& draw, Rule rule, Descriptor& descriptor) {
  return Breaker(draw, descriptor).apply(rule);
}

}  // namespace redzone::generators
