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

constexpr const char* kTypeNames[] = {
    "u8",  "u16",  "u32",     "i32",  "u64",      "i64",          "f16",           "f32",
    "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz", "u4x16_align8", "u4x16_align16", "u6x16_align16"};
constexpr const char* kInterleaveNames[] = {"none", "16B", "32B"};
constexpr const char* kSwizzleNames[] = {
    "none", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B"};
constexpr const char* kPromotionNames[] = {"none", "64B", "128B", "256B"};
constexpr const char* kFillNames[] = {"zero", "nan"};

template <class Enum>
std::string name_in(std::span<const char* const> names, Enum value) {
  return number(value) < names.size() ? names[number(value)] : std::to_string(number(value));
}

template <class Enum>
std::optional<Enum> value_in(std::span<const char* const> names, std::string_view text) {
  for (std::uint32_t i = 0; i < names.size(); ++i)
    if (text == names[i]) return static_cast<Enum>(i);
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || rest != end) return std::nullopt;
  return static_cast<Enum>(value);
}

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

std::string name_of(DataType type) {
  return name_in(kTypeNames, type);
}
std::string name_of(Interleave interleave) {
  return name_in(kInterleaveNames, interleave);
}
std::string name_of(Swizzle swizzle) {
  return name_in(kSwizzleNames, swizzle);
}
std::string name_of(Promotion promotion) {
  return name_in(kPromotionNames, promotion);
}
std::string name_of(Fill fill) {
  return name_in(kFillNames, fill);
}

std::optional<DataType> parse_data_type(std::string_view text) {
  return value_in<DataType>(kTypeNames, text);
}
std::optional<Interleave> parse_interleave(std::string_view text) {
  return value_in<Interleave>(kInterleaveNames, text);
}
std::optional<Swizzle> parse_swizzle(std::string_view text) {
  return value_in<Swizzle>(kSwizzleNames, text);
}
std::optional<Promotion> parse_promotion(std::string_view text) {
  return value_in<Promotion>(kPromotionNames, text);
}
std::optional<Fill> parse_fill(std::string_view text) {
  return value_in<Fill>(kFillNames, text);
}

std::string data_type_names() {
  return fmt::format("{}", fmt::join(kTypeNames, ", "));
}
std::string swizzle_names() {
  return fmt::format("{}", fmt::join(kSwizzleNames, ", "));
}

std::string text_of(const Descriptor& d) {
  std::string out = fmt::format("{} {} rank {} address {:#x} dims ({}) strides ({})",
                                d.kind == Kind::tiled ? "tiled" : "im2col", name_of(d.type), d.rank,
                                d.address, fmt::join(used(d.dims, d.rank, 0), ","),
                                fmt::join(used(d.strides, d.rank, 1), ","));
  if (d.kind == Kind::tiled)
    out += fmt::format(" box ({})", fmt::join(used(d.box, d.rank, 0), ","));
  else
    out += fmt::format(" lower ({}) upper ({}) channels {} pixels {}",
                       fmt::join(used(d.lower, d.rank, 2), ","),
                       fmt::join(used(d.upper, d.rank, 2), ","), d.channels, d.pixels);
  return out + fmt::format(" element strides ({}) interleave {} swizzle {} promotion {} fill {}",
                           fmt::join(used(d.element_strides, d.rank, 0), ","),
                           name_of(d.interleave), name_of(d.swizzle), name_of(d.promotion),
                           name_of(d.fill));
}

}  // namespace redzone::tma
