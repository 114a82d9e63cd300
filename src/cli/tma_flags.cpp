#include "cli/tma_flags.h"

#include <fmt/format.h>

#include <limits>

#include "tma/block.h"

namespace redzone::cli {
namespace {

struct Flag {
  const char* name;
  const char* help;
};

constexpr Flag kFlags[] = {
    {"format", "data type, as a name (bf16) or the number of CUtensorMapDataType"},
    {"address", "base address (default: an aligned one)"},
    {"dim", "sizes in elements, innermost first: 128,1,32"},
    {"stride", "strides in bytes of dims 1 and up: 2,256"},
    {"box", "box in elements: 64,128,1"},
    {"element-stride", "element strides (default: all 1)"},
    {"lower-corner", "im2col: lower corner of the pixel box, from dim 1: --lower-corner=-1,-1"},
    {"upper-corner", "im2col: upper corner of the pixel box"},
    {"channels", "im2col: channels per pixel"},
    {"pixels", "im2col: pixels per column"},
    {"interleave", "none, 16B or 32B, or a number (default: none)"},
    {"swizzle", "none, 32B, 64B, 128B, ..., or a number (default: none)"},
    {"promotion", "L2 promotion: none, 64B, 128B or 256B, or a number (default: none)"},
    {"fill", "zero or nan, or a number (default: zero)"},
};

std::string help_of(std::string_view name) {
  for (const auto& flag : kFlags)
    if (name == flag.name) return flag.help;
  return "";
}

bool given(const po::variables_map& flags, const char* name) {
  return flags.count(name) != 0;
}

// Reads flags into a descriptor; keeps the first error.
class Reader {
 public:
  explicit Reader(const po::variables_map& flags) : flags_(flags) {}

  template <class Enum, class Parse>
  void name(const char* flag, Enum& into, Parse parse) {
    if (!given(flags_, flag)) return;
    if (const auto value = parse(text(flag)))
      into = *value;
    else
      fail(flag, fmt::format("unknown name '{}'; {}", text(flag), help_of(flag)));
  }

  template <class T>
  void one(const char* flag, T& into) {
    std::array<T, 1> value{into};
    if (given(flags_, flag) && list(flag, value) != 1) fail(flag, "one number expected");
    into = value[0];
  }

  // Returns the number of values.
  template <class T, std::size_t N>
  std::size_t list(const char* flag, std::array<T, N>& into) {
    if (!given(flags_, flag)) return 0;
    const auto value = tma::parse_numbers(text(flag));
    if (value.state != tma::FieldValue::State::good) {
      fail(flag, fmt::format("'{}': numbers expected, with commas between them", text(flag)));
      return 0;
    }
    // A negative stride is accepted here and explained like other impossible descriptors.
    if (std::is_unsigned_v<T> && std::string_view(flag) != "stride" &&
        text(flag).find('-') != std::string::npos) {
      fail(flag, fmt::format("'{}': no number may be negative", text(flag)));
      return 0;
    }
    for (std::size_t i = 0; i < value.numbers.size() && i < N; ++i) {
      into[i] = static_cast<T>(value.numbers[i]);
      if (static_cast<std::uint64_t>(into[i]) != value.numbers[i])
        fail(flag, fmt::format("{} does not fit {} bits", value.numbers[i], 8 * sizeof(T)));
    }
    return value.numbers.size();
  }

  void expect(const char* flag, std::size_t count, std::size_t wanted) {
    if (count != wanted)
      fail(flag, fmt::format("{} numbers are needed for this --dim, not {}", wanted, count));
  }

  void fail(const char* flag, const std::string& what) {
    if (error_.empty()) error_ = fmt::format("--{}: {}", flag, what);
  }
  void missing(const char* flag) {
    if (error_.empty()) error_ = fmt::format("--{} is missing", flag);
  }
  const std::string& error() const { return error_; }

 private:
  std::string text(const char* flag) const { return flags_[flag].as<std::string>(); }

  const po::variables_map& flags_;
  std::string error_;
};

}  // namespace

void add_descriptor_flags(po::options_description& flags) {
  for (const auto& [name, help] : kFlags) flags.add_options()(name, po::value<std::string>(), help);
}

bool descriptor_given(const po::variables_map& flags) {
  for (const auto& flag : kFlags)
    if (given(flags, flag.name)) return true;
  return false;
}

Result<tma::Descriptor> descriptor_of(const po::variables_map& flags) {
  tma::Descriptor d;
  d.address = 256;  // aligned, and not null
  Reader read(flags);
  if (!given(flags, "format"))
    read.fail("format", "is missing; known are " + tma::names_of<tma::DataType>());
  if (!given(flags, "dim")) read.missing("dim");
  const bool im2col = given(flags, "channels") || given(flags, "pixels") ||
                      given(flags, "lower-corner") || given(flags, "upper-corner");
  if (im2col && given(flags, "box")) read.fail("box", "im2col has --channels and --pixels instead");
  if (!im2col && !given(flags, "box")) read.missing("box");
  d.kind = im2col ? tma::Kind::im2col : tma::Kind::tiled;

  read.name("format", d.type, tma::parse_name_or_number<tma::DataType>);
  read.name("interleave", d.interleave, tma::parse_name_or_number<tma::Interleave>);
  read.name("swizzle", d.swizzle, tma::parse_name_or_number<tma::Swizzle>);
  read.name("promotion", d.promotion, tma::parse_name_or_number<tma::Promotion>);
  read.name("fill", d.fill, tma::parse_name_or_number<tma::Fill>);
  read.one("address", d.address);
  const std::size_t rank = read.list("dim", d.dims);
  d.rank = static_cast<std::uint32_t>(rank);
  const std::size_t below = rank > 1 ? rank - 1 : 0;
  read.expect("stride", read.list("stride", d.strides), below);
  if (given(flags, "element-stride"))
    read.expect("element-stride", read.list("element-stride", d.element_strides), rank);
  if (im2col) {
    const std::size_t spatial = rank > 2 ? rank - 2 : 0;
    read.expect("lower-corner", read.list("lower-corner", d.lower), spatial);
    read.expect("upper-corner", read.list("upper-corner", d.upper), spatial);
    read.one("channels", d.channels);
    read.one("pixels", d.pixels);
  } else {
    read.expect("box", read.list("box", d.box), rank);
  }
  if (!read.error().empty()) return usage_error("tma explain: " + read.error());
  return d;
}

}  // namespace redzone::cli
