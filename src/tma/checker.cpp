#include "tma/checker.h"

#include "core/error.h"

namespace redzone::tma {
namespace {

constexpr std::int64_t kMaxDim = std::int64_t{1} << 32;
constexpr std::int64_t kMaxStride = (std::int64_t{1} << 40) - 1;

class Checker {
 public:
  Checker(const Descriptor& descriptor, int compute_capability)
      : d_(descriptor), compute_capability_(compute_capability) {}

  Violations run() {
    enumerators();
    const bool known_type = number(d_.type) < kDataTypes;
    if (known_type) types();
    address();
    const std::int64_t least = d_.kind == Kind::im2col ? 3 : 1;
    in_range(Rule::rank, -1, d_.rank, least, kMaxRank);
    if (d_.rank < static_cast<std::uint64_t>(least) || d_.rank > kMaxRank) return found_;
    if (d_.interleave == Interleave::b16 || d_.interleave == Interleave::b32)
      in_range(Rule::rank_of_interleave, -1, d_.rank, 3, kMaxRank);
    dims();
    strides(known_type);
    element_strides();
    if (d_.kind == Kind::im2col) {
      corners();
      pixels(known_type);
    } else {
      box(known_type);
    }
    return found_;
  }

 private:
  void add(Rule rule, int dim, std::uint64_t value, const Limit& limit, bool degenerate = false) {
    found_.add({rule, static_cast<std::int8_t>(dim), value, limit, degenerate});
  }
  void in_range(Rule rule, int dim, std::uint64_t value, std::int64_t low, std::int64_t high,
                bool degenerate = false) {
    if (value < static_cast<std::uint64_t>(low) || value > static_cast<std::uint64_t>(high))
      add(rule, dim, value, {Limit::Kind::range, low, high, 0}, degenerate);
  }
  void multiple(Rule rule, int dim, std::uint64_t value, std::int64_t unit,
                bool degenerate = false) {
    if (value % static_cast<std::uint64_t>(unit) != 0)
      add(rule, dim, value, {Limit::Kind::multiple_of, 0, 0, unit}, degenerate);
  }
  template <class Enum>
  void known(Rule rule, Enum value, std::uint32_t count) {
    in_range(rule, -1, number(value), 0, std::int64_t{count} - 1);
  }
  void one_of(Rule rule, std::uint64_t value, bool is_one) {
    if (!is_one) add(rule, -1, value, {Limit::Kind::one_of, 0, 0, 0});
  }

  void enumerators() {
    known(Rule::data_type, d_.type, kDataTypes);
    known(Rule::interleave, d_.interleave, kInterleaves);
    known(Rule::swizzle, d_.swizzle, kSwizzles);
    known(Rule::promotion, d_.promotion, kPromotions);
    known(Rule::fill, d_.fill, kFills);
    if (d_.interleave == Interleave::b32)
      one_of(Rule::swizzle_of_interleave, number(d_.swizzle), d_.swizzle == Swizzle::b32);
  }

  void types() {
    if (d_.fill == Fill::nan) one_of(Rule::fill_of_type, number(d_.type), is_float(d_.type));
    if (d_.type == DataType::u6x16_align16)
      one_of(Rule::interleave_of_packed, number(d_.interleave), d_.interleave == Interleave::none);
    if (is_spread(d_.type)) {
      const bool atom64 = d_.type == DataType::u6x16_align16 && d_.swizzle == Swizzle::b128_atom64;
      one_of(Rule::swizzle_of_packed, number(d_.swizzle),
             d_.swizzle == Swizzle::none || d_.swizzle == Swizzle::b128 ||
                 d_.swizzle == Swizzle::b128_atom32 || atom64);
    }
    const bool newer = d_.type >= DataType::u4x16_align8 ||
                       (d_.swizzle >= Swizzle::b128_atom32 && number(d_.swizzle) < kSwizzles);
    if (newer && compute_capability_ > 0)
      in_range(Rule::newer_gpu, -1, static_cast<std::uint64_t>(compute_capability_), 100, 999);
  }

  // Required alignment of base address and strides, in bytes.
  std::int64_t alignment() const {
    return d_.interleave == Interleave::b32 || is_spread(d_.type) ? 32 : 16;
  }

  void address() { multiple(Rule::address_alignment, -1, d_.address, alignment()); }

  void dims() {
    for (std::uint32_t i = 0; i < d_.rank; ++i)
      in_range(Rule::dim_range, static_cast<int>(i), d_.dims[i], 1, kMaxDim);
    if (is_spread(d_.type))
      multiple(Rule::dim_of_packed, 0, d_.dims[0], 128);
    else if (d_.type == DataType::u4x16_align8)
      multiple(Rule::dim_of_packed, 0, d_.dims[0], 2);
  }

  void strides(bool known_type) {
    // Bytes covered by the dims so far; saturates at 2^40, so it cannot overflow.
    std::uint64_t covered = known_type ? saturated(d_.dims[0], element_bits(d_.type)) / 8 : 0;
    for (std::uint32_t i = 0; i + 1 < d_.rank; ++i) {
      const int dim = static_cast<int>(i) + 1;
      const bool unused = d_.dims[i + 1] == 1;
      const std::uint64_t stride = d_.strides[i];
      multiple(Rule::stride_alignment, dim, stride, alignment(), unused);
      in_range(Rule::stride_range, dim, stride, 0, kMaxStride, unused);
      if (known_type && !unused && stride < covered)
        add(Rule::stride_order, dim, stride,
            {Limit::Kind::range, static_cast<std::int64_t>(covered), kMaxStride, 0});
      if (!unused) covered = saturated(stride, d_.dims[i + 1]);
    }
  }

  // a * b, but at most 2^40.
  static std::uint64_t saturated(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    return a != 0 && b > most / a ? most : a * b;
  }

  void element_strides() {
    for (std::uint32_t i = 0; i < d_.rank; ++i) {
      const bool ignored = i == 0 && d_.interleave == Interleave::none;
      in_range(ignored ? Rule::inner_element_stride : Rule::element_stride_range,
               static_cast<int>(i), d_.element_strides[i], 1, 8);
    }
  }

  // Checks `elements` along dim 0: whole 16-byte units, within the swizzle's span.
  void inner(Rule multiple_rule, std::uint64_t elements) {
    const std::uint64_t bits = elements * element_bits(d_.type);
    std::uint64_t bytes = bits / 8;
    // Prevents an excess of half a byte from rounding to a multiple.
    if (bits % 128 != 0 && bytes % 16 == 0) ++bytes;
    const bool plain = d_.interleave == Interleave::none;
    multiple(plain ? multiple_rule : Rule::interleaved_bytes, 0, bytes, 16);
    if (!plain) return;
    if (const auto span = swizzle_span_bytes(d_.swizzle); span != 0)
      in_range(Rule::swizzle_span, 0, bytes, 0, span);
  }

  void box(bool known_type) {
    for (std::uint32_t i = 0; i < d_.rank; ++i)
      in_range(Rule::box_range, static_cast<int>(i), d_.box[i], 1, 256);
    if (!known_type) return;
    if (is_spread(d_.type)) in_range(Rule::box_of_packed, 0, d_.box[0], 128, 128);
    inner(Rule::box_inner_bytes, d_.box[0]);
    load_bytes();
  }

  void corners() {
    const std::uint32_t count = d_.rank - 2;
    constexpr std::int64_t lows[] = {-32768, -128, -16};
    const std::int64_t low = lows[count - 1], high = -low - 1;
    for (std::uint32_t i = 0; i < count; ++i) {
      const int dim = static_cast<int>(i) + 1;
      for (const std::int64_t corner : {d_.lower[i], d_.upper[i]})
        if (corner < low || corner > high)
          add(Rule::corner_range, dim, static_cast<std::uint64_t>(corner),
              {Limit::Kind::range, low, high, 0});
      area(i);
    }
  }

  // The box reaches from `lower` to the last pixel plus `upper` (PTX ISA, im2col mode). Probed on
  // an H100, driver 580.159.04: dim and upper corner are added in 32 bits, so that a dim of 2^31 is
  // negative and 2^32 - 1 with an upper corner of 2 is 1.
  void area(std::uint32_t i) {
    const std::uint32_t dim = pixel_dim(d_, i);
    if (d_.dims[dim] < 1 || d_.dims[dim] > kMaxDim) return;
    const auto end = static_cast<std::int32_t>(static_cast<std::uint32_t>(d_.dims[dim]) +
                                               static_cast<std::uint32_t>(d_.upper[i]));
    const std::int64_t pixels = std::int64_t{end} - d_.lower[i];
    if (pixels < 1)
      add(Rule::corner_area, static_cast<int>(dim), static_cast<std::uint64_t>(pixels),
          {Limit::Kind::range, 1, kMaxDim, 0});
  }

  void pixels(bool known_type) {
    in_range(Rule::pixels_range, -1, d_.pixels, 0, 1024);
    if (d_.pixels == 0) in_range(Rule::pixels_zero, -1, 0, 1, 1024);
    in_range(Rule::channels_range, 0, d_.channels, 0, 256);
    if (d_.channels == 0) in_range(Rule::channels_zero, 0, 0, 1, 256);
    if (!known_type) return;
    if (is_spread(d_.type)) in_range(Rule::channels_of_packed, 0, d_.channels, 128, 128);
    inner(Rule::channels_bytes, d_.channels);
    load_bytes();
  }

  // Checks the bytes of one load in shared memory. Skipped if a side is out of range.
  void load_bytes() {
    if (const auto bytes = bytes_of_load(d_))
      in_range(Rule::box_bytes, -1, *bytes, 0, kMaxLoadBytes);
  }

  const Descriptor& d_;
  int compute_capability_;
  Violations found_;
};

Answer answer(const Violations& violations, Says (*says)(Rule)) {
  Answer out = Answer::accepts;
  for (const auto& violation : violations) {
    const Says word = says(violation.rule);
    if (word == Says::forbids) return Answer::rejects;
    if (word == Says::nothing) out = Answer::open;
  }
  return out;
}

}  // namespace

bool is_signed(Rule rule) {
  return rule == Rule::corner_range || rule == Rule::corner_area;
}

bool Violations::breaks(Rule rule) const {
  for (const auto& violation : all())
    if (violation.rule == rule) return true;
  return false;
}

void Violations::add(const Violation& violation) {
  RZ_CHECK(count_ < kMaxViolations);
  items_[count_++] = violation;
}

Violations check(const Descriptor& descriptor, int compute_capability) {
  return Checker(descriptor, compute_capability).run();
}

Answer answer_of_manual(const Violations& violations) {
  return answer(violations, manual_says);
}

Answer answer_of_driver(const Violations& violations) {
  return answer(violations, driver_says);
}

}  // namespace redzone::tma
