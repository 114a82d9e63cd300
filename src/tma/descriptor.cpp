#include "tma/descriptor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <span>

namespace redzone::tma {
namespace {

constexpr std::uint32_t kBits[kDataTypes] = {8,  16, 32, 32, 64, 64, 16, 32,
                                             64, 16, 32, 32, 32, 4,  4,  6};
constexpr std::uint32_t kSpans[kSwizzles] = {0, 32, 64, 128, 128, 128, 128};

// The entries that are used at this rank; `less` fewer than the rank.
template <class T, std::size_t N>
std::span<const T> used(const std::array<T, N>& values, std::uint32_t rank, std::uint32_t less) {
  const std::size_t count = rank > less ? rank - less : 0;
  return {values.data(), std::min(count, N)};
}

}  // namespace

std::uint32_t element_bits(DataType type) {
  return number(type) < kDataTypes ? kBits[number(type)] : 8;
}

bool is_float(DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::f32:
    case DataType::f64:
    case DataType::bf16:
    case DataType::f32_ftz:
    case DataType::tf32:
    case DataType::tf32_ftz:
      return true;
    default:
      return false;
  }
}

bool is_spread(DataType type) {
  return type == DataType::u4x16_align16 || type == DataType::u6x16_align16;
}

std::optional<std::uint64_t> bytes_of_load(const Descriptor& d) {
  const auto within = [](std::uint32_t value, std::uint32_t most) {
    return value >= 1 && value <= most;
  };
  if (number(d.type) >= kDataTypes) return std::nullopt;
  std::uint64_t elements = 1;
  if (d.kind == Kind::im2col) {
    if (!within(d.channels, 256) || !within(d.pixels, 1024)) return std::nullopt;
    elements = std::uint64_t{d.channels} * d.pixels;
  } else {
    if (d.rank > kMaxRank) return std::nullopt;
    for (std::uint32_t i = 0; i < d.rank; ++i) {
      if (!within(d.box[i], 256) || !within(d.element_strides[i], 8)) return std::nullopt;
      elements *= d.box[i] / d.element_strides[i];
    }
  }
  return elements * element_bits(d.type) / 8;
}

std::uint32_t swizzle_span_bytes(Swizzle swizzle) {
  return number(swizzle) < kSwizzles ? kSpans[number(swizzle)] : 0;
}

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || rest != end) return std::nullopt;
  return value;
}

std::string text_of(const Descriptor& d) {
  std::string out = fmt::format("{} {} rank {} address {:#x} dims ({}) strides ({})",
                                d.kind == Kind::tiled ? "tiled" : "im2col", name_or_number(d.type),
                                d.rank, d.address, fmt::join(used(d.dims, d.rank, 0), ","),
                                fmt::join(used(d.strides, d.rank, 1), ","));
  if (d.kind == Kind::tiled)
    out += fmt::format(" box ({})", fmt::join(used(d.box, d.rank, 0), ","));
  else
    out += fmt::format(" lower ({}) upper ({}) channels {} pixels {}",
                       fmt::join(used(d.lower, d.rank, 2), ","),
                       fmt::join(used(d.upper, d.rank, 2), ","), d.channels, d.pixels);
  return out + fmt::format(" element strides ({}) interleave {} swizzle {} promotion {} fill {}",
                           fmt::join(used(d.element_strides, d.rank, 0), ","),
                           name_or_number(d.interleave), name_or_number(d.swizzle),
                           name_or_number(d.promotion), name_or_number(d.fill));
}

}  // namespace redzone::tma
