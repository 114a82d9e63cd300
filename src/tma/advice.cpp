#include "tma/advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/round_up.h"
#include "tma/overflow.h"

namespace redzone::tma {
namespace {

enum class Unit : std::uint8_t { none, bytes, elements };

struct Place {
  const char* field;  // name in cuda.h
  Unit unit;
};

Place place_of(Rule rule) {
  switch (rule) {
    case Rule::data_type:
    case Rule::newer_gpu:
      return {"tensorDataType", Unit::none};
    case Rule::rank:
    case Rule::rank_of_interleave:
      return {"tensorRank", Unit::none};
    case Rule::address_alignment:
      return {"globalAddress", Unit::none};
    case Rule::dim_range:
    case Rule::dim_of_packed:
      return {"globalDim", Unit::elements};
    case Rule::stride_alignment:
    case Rule::stride_range:
    case Rule::stride_order:
      return {"globalStrides", Unit::bytes};
    case Rule::box_range:
    case Rule::box_of_packed:
      return {"boxDim", Unit::elements};
    case Rule::box_inner_bytes:
      return {"boxDim", Unit::bytes};
    case Rule::interleaved_bytes:
      return {"inner box", Unit::bytes};
    case Rule::box_bytes:
      return {"box", Unit::bytes};
    case Rule::element_stride_range:
    case Rule::inner_element_stride:
      return {"elementStrides", Unit::elements};
    case Rule::interleave:
    case Rule::interleave_of_packed:
      return {"interleave", Unit::none};
    case Rule::swizzle:
    case Rule::swizzle_of_interleave:
    case Rule::swizzle_of_packed:
      return {"swizzle", Unit::none};
    case Rule::swizzle_span:
      return {"inner box", Unit::bytes};
    case Rule::promotion:
      return {"l2Promotion", Unit::none};
    case Rule::fill:
    case Rule::fill_of_type:
      return {"oobFill", Unit::none};
    case Rule::corner_range:
      return {"pixel box corner", Unit::elements};
    case Rule::corner_area:
      return {"pixel box", Unit::elements};
    case Rule::channels_range:
    case Rule::channels_zero:
    case Rule::channels_of_packed:
      return {"channelsPerPixel", Unit::elements};
    case Rule::channels_bytes:
      return {"channelsPerPixel", Unit::bytes};
    case Rule::pixels_range:
    case Rule::pixels_zero:
      return {"pixelsPerColumn", Unit::elements};
  }
  return {"", Unit::none};
}

const char* suffix(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return " bytes";
    case Unit::elements:
      return " elements";
    case Unit::none:
      break;
  }
  return "";
}

// For example "272 bytes (136 elements)".
std::string bytes_and_elements(std::uint64_t bytes, DataType type) {
  const std::uint32_t bits = element_bits(type);
  if (bits < 8 || bytes % (bits / 8) != 0) return fmt::format("{} bytes", bytes);
  return fmt::format("{} bytes ({} elements)", bytes, bytes / (bits / 8));
}

// Bytes of a row of dim 0, rounded up to the required multiple of strides; `unit` if the dim is out
// of range.
std::uint64_t row_bytes(const Descriptor& d, std::uint64_t unit) {
  if (d.dims[0] == 0 || d.dims[0] > (std::uint64_t{1} << 32)) return unit;
  return round_up(d.dims[0] * element_bits(d.type) / 8, unit);
}

std::string value_text(const Descriptor& d, const Violation& v) {
  switch (v.rule) {
    case Rule::address_alignment:
      return fmt::format("{:#x}", v.value);
    case Rule::interleave_of_packed:
      return name_or_number(d.interleave);
    case Rule::swizzle_of_interleave:
    case Rule::swizzle_of_packed:
      return name_or_number(d.swizzle);
    case Rule::fill_of_type:
      return fmt::format("{} for {}", name_or_number(d.fill), name_or_number(d.type));
    case Rule::newer_gpu:
      return fmt::format("{} with swizzle {} on compute capability {}.{}", name_or_number(d.type),
                         name_or_number(d.swizzle), v.value / 10, v.value % 10);
    default:
      break;
  }
  const char* unit = suffix(place_of(v.rule).unit);
  if (is_signed(v.rule)) return fmt::format("{}{}", static_cast<std::int64_t>(v.value), unit);
  const bool stride = place_of(v.rule).unit == Unit::bytes && v.value >> 63 != 0;
  if (stride)
    return fmt::format("{}{} ({} as a signed number)", v.value, unit,
                       static_cast<std::int64_t>(v.value));
  return fmt::format("{}{}", v.value, unit);
}

std::string limit_text(const Violation& v) {
  const char* unit = suffix(place_of(v.rule).unit);
  switch (v.limit.kind) {
    case Limit::Kind::multiple_of:
      return fmt::format("a multiple of {}{}", v.limit.unit, unit);
    case Limit::Kind::range:
      if (v.limit.low == v.limit.high) return fmt::format("{}{}", v.limit.low, unit);
      return fmt::format("{} to {}{}", v.limit.low, v.limit.high, unit);
    case Limit::Kind::one_of:
      break;
  }
  switch (v.rule) {
    case Rule::fill_of_type:
      return "zero for a type that is not floating-point";
    case Rule::swizzle_of_interleave:
      return "32B";
    case Rule::interleave_of_packed:
      return "none";
    default:
      return "none, 128B or 128B_ATOM_32B (128B_ATOM_64B for the 6-bit type only)";
  }
}

std::string stride_change(const Descriptor& d, const Violation& v) {
  const auto dim = static_cast<std::uint32_t>(v.dim);
  const auto unit =
      static_cast<std::uint64_t>(d.interleave == Interleave::b32 || is_spread(d.type) ? 32 : 16);
  if (v.degenerate)
    return fmt::format(
        "Set it to any legal value before encoding, for instance {} (a row, rounded up to a "
        "multiple of {}); do so for every dim of size 1.",
        row_bytes(d, unit), unit);
  if (const auto meant = stride_before_overflow(d, dim))
    return fmt::format(
        "Compute it in 64 bits: {}{}.", bytes_and_elements(*meant, d.type),
        *meant % unit != 0 || *meant >> 40 != 0 ? ", which is not legal either" : "");
  if (v.value >> 63 != 0)
    return "TMA cannot walk backwards: flip the tensor in memory, or compute the stride in 64 bits "
           "if it was meant to be positive.";
  if (v.rule == Rule::stride_alignment)
    return fmt::format("Pad the rows so that it becomes {}, or load this tensor without TMA.",
                       bytes_and_elements(round_up(v.value, unit), d.type));
  if (v.rule == Rule::stride_range)
    return "Give the descriptor a base address further in and fewer dims, or split the tensor.";
  return "Check the order of the dims.";
}

std::string stride_why(const Descriptor& d, const Violation& v) {
  if (v.degenerate) {
    const bool one = v.value == element_bits(d.type) / 8;
    const auto meant = stride_before_overflow(d, static_cast<std::uint32_t>(v.dim));
    return fmt::format(
        "Dim {} has size 1, so this stride is never used: it is what the framework left there{}. "
        "The encoder checks it anyway.{}",
        v.dim, one ? " (1 element, as exchanging a tensor through DLPack normalizes it)" : "",
        meant ? fmt::format(" It is also what a 32-bit product leaves of {}: in a dim of more than "
                            "1 that would be wrong data.",
                            *meant)
              : "");
  }
  if (stride_before_overflow(d, static_cast<std::uint32_t>(v.dim)))
    return "It is what a 32-bit product leaves of the real stride.";
  if (v.value >> 63 != 0) return "A negative stride was read as an unsigned number.";
  return std::string();
}

std::string why(const Descriptor& d, const Violation& v) {
  std::string extra;
  switch (v.rule) {
    case Rule::stride_alignment:
    case Rule::stride_range:
    case Rule::stride_order:
      extra = stride_why(d, v);
      break;
    case Rule::dim_range:
      if (v.value == 0) extra = "An empty tensor has no descriptor.";
      break;
    case Rule::swizzle_span:
      extra =
          fmt::format("The swizzle {} spans {} bytes.", name_or_number(d.swizzle), v.limit.high);
      break;
    default:
      break;
  }
  std::string rule(sentence_of(v.rule));
  rule[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(rule[0])));
  return extra.empty() ? rule + "." : extra + " " + rule + ".";
}

// Number of elements along dim 0 that `bytes` bytes contain.
std::uint64_t elements_of(std::uint64_t bytes, DataType type) {
  return bytes * 8 / element_bits(type);
}

std::string inner_change(const Descriptor& d, const Violation& v) {
  const std::uint64_t elements = d.kind == Kind::tiled ? d.box[0] : d.channels;
  const char* what = d.kind == Kind::tiled ? "boxDim[0]" : "channelsPerPixel";
  if (v.rule == Rule::swizzle_span)
    return fmt::format("Set {} to at most {} and load the rest with further boxes, or use a {}.",
                       what, elements_of(static_cast<std::uint64_t>(v.limit.high), d.type),
                       v.value <= 128 ? "wider swizzle" : "box without a swizzle");
  const std::uint64_t bytes = std::max<std::uint64_t>(round_up<std::uint64_t>(v.value, 16), 16);
  return fmt::format("Set {} to {} instead of {}; what lies beyond the tensor is filled.", what,
                     elements_of(bytes, d.type), elements);
}

std::string change(const Descriptor& d, const Violation& v) {
  switch (v.rule) {
    case Rule::stride_alignment:
    case Rule::stride_range:
    case Rule::stride_order:
      return stride_change(d, v);
    case Rule::address_alignment:
      return fmt::format(
          "The base is {} bytes past a multiple of {}: copy the slice to aligned memory, or pass "
          "the aligned base and add the offset to the coordinates.",
          v.value % static_cast<std::uint64_t>(v.limit.unit), v.limit.unit);
    case Rule::dim_range:
      return v.value == 0 ? "Do not launch for an empty tensor, or describe one row and mask it."
                          : "Split the tensor along this dim.";
    case Rule::box_range:
      return v.value == 0
                 ? "Give the box at least one element along this dim."
                 : fmt::format("Use a box of {} or less along this dim, and several loads.",
                               v.limit.high);
    case Rule::box_inner_bytes:
    case Rule::interleaved_bytes:
    case Rule::channels_bytes:
    case Rule::swizzle_span:
      return inner_change(d, v);
    case Rule::box_bytes:
      return "Use a smaller box and several loads: what a kernel may take of the shared memory is "
             "less still.";
    case Rule::corner_area:
      return "Make the corners smaller than the dim; split a dim of 2^31 or more.";
    case Rule::data_type:
      return "Known are 0 to 15: " + names_of<DataType>() + ".";
    case Rule::swizzle:
      return "Known are 0 to 6: " + names_of<Swizzle>() + ".";
    case Rule::swizzle_of_interleave:
      return "Use the 32B swizzle, or no interleave.";
    case Rule::fill_of_type:
      return "Fill with zeros.";
    case Rule::rank_of_interleave:
      return "Add dims of size 1, or use no interleave.";
    case Rule::newer_gpu:
      return "Use a plain type and a plain 32B, 64B or 128B swizzle on this GPU.";
    case Rule::corner_range:
      return "Use a convolution of a smaller reach, or load it as tiles.";
    default:
      return fmt::format("Make it {}.", limit_text(v));
  }
}

}  // namespace

Advice advise(const Descriptor& descriptor, const Violation& violation) {
  const Place place = place_of(violation.rule);
  return {violation,
          violation.dim < 0 ? std::string(place.field)
                            : fmt::format("{} of dim {}", place.field, violation.dim),
          value_text(descriptor, violation),
          limit_text(violation),
          why(descriptor, violation),
          change(descriptor, violation)};
}

std::vector<std::string> remarks(const Descriptor& d) {
  std::vector<std::string> out;
  if (d.address == 0)
    out.push_back(
        "The base address is null. The driver that was probed encodes it, and the load then "
        "faults: look whether the tensor is empty or its allocation failed.");
  for (std::uint32_t dim = 1; dim < std::min(d.rank, kMaxRank); ++dim) {
    const std::uint64_t stride = d.strides[dim - 1];
    if (d.dims[dim] <= 1) continue;
    const auto meant = stride_before_overflow(d, dim);
    if (meant && stride % 16 == 0 && stride >> 40 == 0)
      out.push_back(fmt::format(
          "The stride of dim {} is {} bytes, which is legal, and what a 32-bit product leaves of "
          "{}: if that was meant, the load reads other rows.",
          dim, stride, *meant));
    else if (stride == 0)
      out.push_back(fmt::format(
          "The stride of dim {} is 0: all of its {} rows are the same memory. That is fine for "
          "loads; stores would race.",
          dim, d.dims[dim]));
    else if (d.interleave == Interleave::none && stride < row_bytes(d, 1))
      out.push_back(fmt::format(
          "The rows along dim {} begin {} bytes apart and have {} bytes each: they overlap.", dim,
          stride, row_bytes(d, 1)));
  }
  return out;
}

}  // namespace redzone::tma
