#include "tma/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace redzone::tma {
namespace {

const char* field_name(Field field) {
  constexpr const char* names[kFields] = {"the address of the map",
                                          "the data type",
                                          "the rank",
                                          "the base address",
                                          "globalDim",
                                          "globalStrides",
                                          "boxDim",
                                          "elementStrides",
                                          "interleave",
                                          "swizzle",
                                          "l2Promotion",
                                          "oobFill",
                                          "the lower corner",
                                          "the upper corner",
                                          "channelsPerPixel",
                                          "pixelsPerColumn"};
  return names[static_cast<std::size_t>(field)];
}

void file(const Violation& violation, Diagnosis& diagnosis) {
  switch (driver_says(violation.rule)) {
    case Says::forbids:
      diagnosis.broken.push_back(advise(diagnosis.descriptor, violation));
      break;
    case Says::nothing:
      diagnosis.doubtful.push_back(advise(diagnosis.descriptor, violation));
      break;
    case Says::allows:
      break;
  }
}

// Converts a block into a descriptor, and excludes unknown fields from the judgement.
class Reader {
 public:
  explicit Reader(const Block& block) : block_(block) {
    for (std::size_t i = 0; i < kFields; ++i) known_[i] = usable(static_cast<Field>(i));
  }

  Diagnosis run() {
    out_.line = block_.line;
    out_.outcome = block_.outcome;
    Descriptor& d = out_.descriptor;
    if (known(Field::lower) || known(Field::upper) || known(Field::channels) ||
        known(Field::pixels))
      d.kind = Kind::im2col;
    const auto dims = rank();
    if (!dims) {
      problem("neither the rank nor a list of dims can be read");
      return out_;
    }
    d.rank = *dims;
    type();
    scalars();
    lists();
    judge();
    return out_;
  }

 private:
  bool known(Field field) const { return known_[static_cast<std::size_t>(field)]; }
  void forget(Field field) { known_[static_cast<std::size_t>(field)] = false; }
  const std::vector<std::uint64_t>& numbers(Field field) const { return block_[field]->numbers; }
  std::uint64_t first(Field field) const { return numbers(field)[0]; }
  void problem(std::string text) { out_.not_judged.push_back(std::move(text)); }

  bool usable(Field field) {
    const auto& value = block_[field];
    if (!value) return false;
    // Each program prints different addresses of maps and tensors, so differing values are no
    // evidence of mixed blocks.
    if (block_.mixed[static_cast<std::size_t>(field)] && field != Field::map_address &&
        field != Field::address) {
      problem(fmt::format("{} has several values: blocks that were printed at once are mixed here",
                          field_name(field)));
      return false;
    }
    switch (value->state) {
      case FieldValue::State::good:
        return true;
      case FieldValue::State::damaged:
        problem(fmt::format("{} is damaged", field_name(field)));
        return false;
      case FieldValue::State::pointer:
        problem(fmt::format("{} was printed as the address of the array, not as its values",
                            field_name(field)));
        return false;
    }
    return false;
  }

  // The printed rank, or else the apparent number of dims.
  std::optional<std::uint32_t> rank() {
    if (known(Field::rank)) return narrow(first(Field::rank));
    if (!known(Field::dims)) return std::nullopt;
    // Lists are padded: dims with 1, strides with 0.
    std::size_t count = std::min<std::size_t>(numbers(Field::dims).size(), kMaxRank);
    while (count > 1 && numbers(Field::dims)[count - 1] == 1 && !has_stride(count - 1)) --count;
    problem(fmt::format("the rank is missing and taken to be {}", count));
    return static_cast<std::uint32_t>(count);
  }

  bool has_stride(std::size_t dim) const {
    if (!known(Field::strides)) return false;
    const std::size_t at = block_.strides_from_dim_1 ? dim - 1 : dim;
    return at < numbers(Field::strides).size() && numbers(Field::strides)[at] != 0;
  }

  void type() {
    if (known(Field::type)) {
      out_.descriptor.type = static_cast<DataType>(narrow(first(Field::type)));
      return;
    }
    // CUTLASS prints the size of an element as the first stride.
    const bool size =
        known(Field::strides) && !block_.strides_from_dim_1 && numbers(Field::strides).size() > 1;
    const std::uint64_t bytes = size ? first(Field::strides) : 0;
    constexpr std::pair<std::uint64_t, DataType> types[] = {
        {1, DataType::u8}, {2, DataType::bf16}, {4, DataType::f32}, {8, DataType::f64}};
    for (const auto& [width, type] : types)
      if (bytes == width) {
        out_.descriptor.type = type;
        known_[static_cast<std::size_t>(Field::type)] = true;
        problem(fmt::format(
            "the data type is missing; by the first stride its elements have {} bytes", bytes));
        return;
      }
    problem("the data type is missing: rules about bytes are not judged");
  }

  static std::uint32_t narrow(std::uint64_t value) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::min(value, most));
  }

  template <class Enum>
  void scalar(Field field, Enum& into) {
    if (known(field))
      into = static_cast<Enum>(narrow(first(field)));
    else if (!block_[field])
      problem(fmt::format("{} is missing", field_name(field)));
  }

  void scalars() {
    Descriptor& d = out_.descriptor;
    if (known(Field::address))
      d.address = first(Field::address);
    else
      d.address = 32;  // breaks no rule
    if (!block_[Field::address]) problem("the base address is missing");
    if (known(Field::map_address) && first(Field::map_address) % 64 != 0)
      out_.notes.push_back(fmt::format(
          "The map would be at {:#x}, and it must be 64-byte aligned, unless the program printed "
          "where a pointer to it is: declare it as CUtensorMap, which aligns it.",
          first(Field::map_address)));
    // TensorRT-LLM's format has no interleave, promotion and fill, because they are 0 there.
    if (block_.strides_from_dim_1) {
      scalar(Field::swizzle, d.swizzle);
      return;
    }
    scalar(Field::interleave, d.interleave);
    scalar(Field::swizzle, d.swizzle);
    scalar(Field::promotion, d.promotion);
    scalar(Field::fill, d.fill);
  }

  // Reads the first `count` numbers of a list. Ignores a list that is too short or has a number
  // outside the argument's range.
  template <class T, std::size_t N>
  void list(Field field, std::size_t skip, std::size_t count, std::array<T, N>& into) {
    if (!block_[field]) problem(fmt::format("{} is missing", field_name(field)));
    if (!known(field)) return;
    const auto& values = numbers(field);
    if (values.size() < skip + count) {
      problem(fmt::format("{} has {} numbers where {} are needed", field_name(field), values.size(),
                          skip + count));
      forget(field);
      return;
    }
    for (std::size_t i = 0; i < std::min(count, N); ++i) {
      into[i] = static_cast<T>(values[skip + i]);
      if (static_cast<std::uint64_t>(into[i]) != values[skip + i]) {
        problem(fmt::format("{} has {}, which does not fit its 32 bits", field_name(field),
                            values[skip + i]));
        forget(field);
      }
    }
  }

  bool has_dims() const { return out_.descriptor.rank >= 1 && out_.descriptor.rank <= kMaxRank; }

  void lists() {
    Descriptor& d = out_.descriptor;
    if (!has_dims()) return;
    // Harmless values, chosen such that an unreadable dim is not mistaken for a dim of size 1.
    d.dims.fill(2);
    d.strides.fill(32);
    list(Field::dims, 0, d.rank, d.dims);
    strides();
    if (d.kind == Kind::im2col) {
      const std::uint32_t corners = d.rank > 2 ? d.rank - 2 : 0;
      list(Field::lower, 0, corners, d.lower);
      list(Field::upper, 0, corners, d.upper);
      scalar(Field::channels, d.channels);
      scalar(Field::pixels, d.pixels);
    } else {
      list(Field::box, 0, d.rank, d.box);
    }
    list(Field::element_strides, 0, d.rank, d.element_strides);
  }

  void strides() {
    Descriptor& d = out_.descriptor;
    // Skips the leading size of an element, unless the list is too short to contain it.
    const bool from_dim_1 = block_.strides_from_dim_1 ||
                            (known(Field::strides) && numbers(Field::strides).size() + 1 == d.rank);
    list(Field::strides, from_dim_1 ? 0 : 1, d.rank - 1, d.strides);
    if (from_dim_1 || !known(Field::strides) || !known(Field::type) || number(d.type) >= kDataTypes)
      return;
    const std::uint64_t inner = first(Field::strides);
    if (const std::uint64_t bits = element_bits(d.type);
        bits >= 8 && inner != bits / 8 && inner != 0)
      out_.notes.push_back(fmt::format(
          "The innermost stride is {} bytes and an element has {}: TMA takes dim 0 as contiguous "
          "whatever its stride, so this reads other elements.",
          inner, bits / 8));
  }

  // True if all fields that the rule depends on could be read.
  bool can_judge(const Violation& v) const {
    switch (v.rule) {
      case Rule::data_type:
      case Rule::fill_of_type:
      case Rule::newer_gpu:
        return known(Field::type);
      case Rule::dim_range:
        return known(Field::dims);
      case Rule::dim_of_packed:
        return known(Field::dims) && known(Field::type);
      case Rule::stride_alignment:
      case Rule::stride_range:
        return known(Field::strides);
      case Rule::stride_order:
        return known(Field::strides) && known(Field::dims) && known(Field::type);
      case Rule::box_range:
        return known(Field::box);
      case Rule::box_of_packed:
      case Rule::box_inner_bytes:
        return known(Field::box) && known(Field::type);
      case Rule::interleaved_bytes:
      case Rule::box_bytes:
      case Rule::swizzle_span:
        return known(Field::type) &&
               known(out_.descriptor.kind == Kind::tiled ? Field::box : Field::channels);
      case Rule::element_stride_range:
      case Rule::inner_element_stride:
        return known(Field::element_strides);
      case Rule::corner_range:
        return known(Field::lower) && known(Field::upper);
      case Rule::corner_area:
        return known(Field::lower) && known(Field::upper) && known(Field::dims);
      case Rule::channels_range:
      case Rule::channels_zero:
        return known(Field::channels);
      case Rule::channels_bytes:
      case Rule::channels_of_packed:
        return known(Field::channels) && known(Field::type);
      case Rule::pixels_range:
      case Rule::pixels_zero:
        return known(Field::pixels);
      default:
        return true;
    }
  }

  void judge() {
    const Descriptor& d = out_.descriptor;
    for (const auto& violation : check(d))
      if (can_judge(violation)) file(violation, out_);
    if (known(Field::dims) && known(Field::strides) && has_dims()) {
      auto more = remarks(d);
      out_.notes.insert(out_.notes.end(), more.begin(), more.end());
    }
    const bool whole = known(Field::dims) && known(Field::strides) && known(Field::type) &&
                       known(d.kind == Kind::tiled ? Field::box : Field::channels);
    if (!out_.broken.empty())
      out_.verdict = Verdict::wrong;
    else if (!whole)
      out_.verdict = Verdict::unreadable;
    else
      out_.verdict = Verdict::clean;
  }

  const Block& block_;
  std::array<bool, kFields> known_{};
  Diagnosis out_;
};

bool is_invalid_value(const Outcome& outcome) {
  return outcome.code == 1 || outcome.words.find("invalid argument") != std::string::npos;
}

// Interprets the reported error code for the descriptor.
void weigh_outcome(Diagnosis& diagnosis) {
  if (!diagnosis.outcome) return;
  const Outcome& outcome = *diagnosis.outcome;
  const std::string said =
      outcome.code >= 0 ? fmt::format("error {}", outcome.code) : "\"" + outcome.words + "\"";
  if (is_invalid_value(outcome)) {
    if (diagnosis.verdict != Verdict::clean) return;
    diagnosis.verdict = Verdict::unexplained;
    diagnosis.notes.push_back(
        fmt::format("The driver returned {} (invalid value), and no rule that is known here is "
                    "broken: the map itself must be 64-byte aligned, and a driver older than the "
                    "toolkit supports fewer types and swizzles.",
                    said));
    return;
  }
  if (outcome.code < 0 && outcome.words.empty()) return;
  const bool unsupported =
      outcome.code == 801 || outcome.words.find("not supported") != std::string::npos;
  const bool absent = outcome.code == 3 || outcome.code == 4 || outcome.code == 201;
  if (unsupported)
    diagnosis.notes.push_back(fmt::format(
        "The driver returned {} (not supported): TMA needs compute capability 9.0.", said));
  else if (absent)
    diagnosis.notes.push_back(
        fmt::format("The driver returned {}: there was no live context on this thread.", said));
  else
    diagnosis.notes.push_back(fmt::format(
        "The driver returned {}, which this call never returns for a descriptor: an earlier kernel "
        "failed, and every call after it returns its error. Look for that kernel.",
        said));
}

bool same(const Diagnosis& a, const Diagnosis& b) {
  const auto equal = [](const auto& x, const auto& y) {
    return x ? y && x->code == y->code && x->words == y->words : !y;
  };
  return a.verdict == b.verdict && a.descriptor == b.descriptor && a.not_judged == b.not_judged &&
         a.notes == b.notes && equal(a.outcome, b.outcome);
}

}  // namespace

Diagnosis diagnose(const Block& block) {
  Diagnosis out = Reader(block).run();
  weigh_outcome(out);
  return out;
}

Diagnosis diagnose(const Descriptor& descriptor) {
  Diagnosis out;
  out.descriptor = descriptor;
  for (const auto& violation : check(descriptor)) file(violation, out);
  out.verdict = out.broken.empty() ? Verdict::clean : Verdict::wrong;
  out.notes = remarks(descriptor);
  return out;
}

Explanation explain(std::string_view text) {
  Explanation out;
  find_blocks(text, [&](const Block& block) {
    ++out.blocks;
    Diagnosis next = diagnose(block);
    for (auto& earlier : out.diagnoses)
      if (same(earlier, next)) {
        ++earlier.times;
        return;
      }
    if (out.diagnoses.size() < kMaxDiagnoses)
      out.diagnoses.push_back(std::move(next));
    else
      ++out.left_out;
  });
  return out;
}

}  // namespace redzone::tma
