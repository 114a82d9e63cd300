// Values of each element, poison and canary byte of a buffer, and the digest of outputs. The host
// device and the CUDA kernels both call these functions, so that a plan has the same data
// everywhere. Everything depends on (seed, element index) only, so any thread can do any element.
//
// Elements are those of a BufferJob, whose type is real: a complex tensor has a job over its parts.
//
// Elements are drawn and digested in words of 8 bytes. With n = 8 / bytes of an element, word w is
// elements w * n .. w * n + n - 1 in memory order, the first in the lowest bits. So words do not
// depend on where the elements lie, and one mix serves all elements of a word.
#pragma once

#include <cmath>

#include "device/buffer_job.h"
#include "device/element.h"

namespace redzone::device {

// Finalizer of splitmix64: a bijection with good avalanche.
RZ_HOST_DEVICE inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

RZ_HOST_DEVICE inline std::uint64_t draw(std::uint64_t seed, std::int64_t index) {
  return mix(seed ^ mix(static_cast<std::uint64_t>(index)));
}

// Row offset `i` of `rows` rows that share `total` elements: non-decreasing, 0 first, `total` last.
// A quarter of the rows are empty. Needs total * rows * 1024 below 2^63.
RZ_HOST_DEVICE inline std::int64_t ragged_offset(std::uint64_t seed, std::int64_t i,
                                                 std::int64_t rows, std::int64_t total) {
  if (i <= 0) return 0;
  if (i >= rows) return total;
  const std::int64_t p = i - ((draw(seed, i) & 3) == 0 ? 1 : 0);
  if (p == 0) return 0;
  const std::int64_t jitter = static_cast<std::int64_t>(draw(~seed, p) & 1023);
  return (p * 1024 + jitter) * total / (rows * 1024);
}

inline constexpr std::size_t kWordBytes = 8;

RZ_HOST_DEVICE constexpr std::int64_t elements_per_word(std::size_t element_bytes) {
  return static_cast<std::int64_t>(kWordBytes / element_bytes);
}

// Element `lane` of a word, in the low bits; the other bits are zero.
RZ_HOST_DEVICE inline std::uint64_t element_of_word(std::uint64_t word, std::size_t element_bytes,
                                                    std::int64_t lane) {
  const auto bits = static_cast<unsigned>(8 * element_bytes);
  return (word >> (bits * static_cast<unsigned>(lane))) & (~0ull >> (64 - bits));
}

// Random bits: output `index` of splitmix64.
RZ_HOST_DEVICE inline std::uint64_t random_word(std::uint64_t seed, std::int64_t index) {
  return mix(seed + static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15ull);
}

// Additional random bits for elements whose own bits are too few: elements of 2 bytes use the upper
// 8 of the 16 bits of each, floats of 1 byte use all 8. They are appended to the elements' own
// bits, which alone are too coarse near 0.
RZ_HOST_DEVICE inline std::uint64_t finer_word(std::uint64_t word) {
  return (word << 32 | word >> 32) * 0xd6e8feb86659fd93ull;
}

RZ_HOST_DEVICE constexpr bool is_f8(DType t) {
  return t == DType::f8e4m3 || t == DType::f8e5m2;
}
RZ_HOST_DEVICE constexpr bool uses_finer_word(DType t) {
  return dtype_bytes(t) == 2 || is_f8(t);
}

// An element of a uniform fill, from its own bits of the random word and, for some types, of the
// finer word. It uses 8 bits (16 for a float of 1 byte), the 24 of a float's significand, or 53 for
// f64, so that `hi` is excluded before rounding.
RZ_HOST_DEVICE inline std::uint64_t uniform_element(DType t, double lo, double hi,
                                                    std::uint64_t random, std::uint64_t finer) {
  if (t == DType::f64) {
    const double u = static_cast<double>(random >> 11) * 1.1102230246251565e-16;
    return encode_real(t, fma(hi - lo, u, lo));
  }
  if (t == DType::boolean) return random >> 7;
  const auto first = static_cast<float>(lo);
  const auto span = static_cast<float>(hi - lo);
  const auto at = [&](std::int32_t step, float size) {  // signed: faster to convert
    return encode_float(t, fmaf(span, static_cast<float>(step) * size, first));
  };
  switch (dtype_bytes(t)) {
    case 1:
      if (is_f8(t)) return at(static_cast<std::int32_t>(random << 8 | finer), 1.52587890625e-5f);
      return at(static_cast<std::int32_t>(random), 3.90625e-3f);
    case 2:
      return at(static_cast<std::int32_t>(static_cast<std::uint32_t>(random) << 8 |
                                          static_cast<std::uint32_t>(finer) >> 8),
                5.9604644775390625e-8f);
    case 4:
      return at(static_cast<std::int32_t>(static_cast<std::uint32_t>(random) >> 8),
                5.9604644775390625e-8f);
    default:
      return at(static_cast<std::int32_t>(random >> 40), 5.9604644775390625e-8f);
  }
}

RZ_HOST_DEVICE constexpr bool is_unsigned(DType t) {
  return t == DType::u8 || t == DType::u16 || t == DType::u32 || t == DType::u64 ||
         t == DType::boolean;
}

// An element of a sparse fill, from its own bits of the random word: see Fill::Kind::sums.
RZ_HOST_DEVICE inline std::uint64_t sparse_element(DType t, std::uint64_t random) {
  const auto r = static_cast<int>(random & 15);
  const int magnitude = r < 4 ? (r & 1) + 1 : 0;
  const int value = r < 2 && !is_unsigned(t) ? -magnitude : magnitude;
  return t == DType::f64 ? encode_real(t, value) : encode_float(t, static_cast<float>(value));
}

// Bits of a special value of a floating type, selected by the three low bits of `which`: NaN, inf,
// -inf, -0, and with either sign the smallest magnitude above 0 and the smallest normal magnitude.
// Large finite values are not used, because a reference's f64 result might then not fit the type;
// only f8e4m3, which has no infinity, uses its largest value instead.
RZ_HOST_DEVICE inline std::uint64_t special_value(DType t, std::uint64_t which) {
  const auto bits = static_cast<unsigned>(8 * dtype_bytes(t));
  unsigned fraction = 52;
  if (t == DType::f32) fraction = 23;
  if (t == DType::f16) fraction = 10;
  if (t == DType::bf16) fraction = 7;
  if (t == DType::f8e4m3) fraction = 3;
  if (t == DType::f8e5m2) fraction = 2;
  const std::uint64_t sign = 1ull << (bits - 1), normal = 1ull << fraction;
  const bool finite = t == DType::f8e4m3;  // all ones are NaN, and there is no infinity
  const std::uint64_t infinity = finite ? sign - 2 : sign - normal;  // or else the largest value
  switch (which & 7) {
    case 0:
      return finite ? sign - 1 : infinity | normal >> 1;
    case 1:
      return infinity;
    case 2:
      return sign | infinity;
    case 3:
      return sign;
    case 4:
      return 1;
    case 5:
      return normal;
    case 6:
      return sign | 1;
    default:
      return sign | normal;
  }
}

RZ_HOST_DEVICE constexpr bool is_floating(DType t) {
  return t == DType::f64 || t == DType::f32 || t == DType::f16 || t == DType::bf16 || is_f8(t);
}

// An element of a special fill: one in 16 is a special value, the others are as in
// uniform_element().
RZ_HOST_DEVICE inline std::uint64_t special_element(DType t, double lo, double hi,
                                                    std::uint64_t random, std::uint64_t finer) {
  if (is_floating(t) && (random & 15) == 0) return special_value(t, random >> 4);
  return uniform_element(t, lo, hi, random, finer);
}

// Bits of element `index` (memory order) as `job` fills it. Poison is the job's word, or its upper
// bits for smaller elements. A bool is poisoned with 0 or 1, so that a kernel may read it as a
// bool; the value is the bit in which the compared poisons differ.
RZ_HOST_DEVICE inline std::uint64_t fill_bits(const BufferJob& job, std::int64_t index) {
  const DType t = static_cast<DType>(job.dtype);
  switch (job.fill) {
    case FillKind::uniform:
    case FillKind::special: {
      const std::int64_t n = elements_per_word(dtype_bytes(t));
      const std::uint64_t word = random_word(job.seed, index / n);
      const std::uint64_t own = element_of_word(word, dtype_bytes(t), index % n);
      const std::uint64_t finer = element_of_word(finer_word(word), dtype_bytes(t), index % n);
      return job.fill == FillKind::special ? special_element(t, job.lo, job.hi, own, finer)
                                           : uniform_element(t, job.lo, job.hi, own, finer);
    }
    case FillKind::sparse: {
      const std::int64_t n = elements_per_word(dtype_bytes(t));
      const std::uint64_t word = random_word(job.seed, index / n);
      return sparse_element(t, element_of_word(word, dtype_bytes(t), index % n));
    }
    case FillKind::integers: {  // one word per element: covers a range of up to 2^60 integers
      const std::uint64_t r = random_word(job.seed, index);
      const std::uint64_t edge = r & 15;
      if (edge == 0) return encode_integer(t, job.first);
      if (edge == 1) return encode_integer(t, job.last);
      const std::uint64_t span = static_cast<std::uint64_t>(job.last - job.first) + 1;
      const std::uint64_t offset = span == 0 ? r >> 4 : (r >> 4) % span;
      return encode_integer(t, job.first + static_cast<std::int64_t>(offset));
    }
    case FillKind::offsets:
      return encode_integer(t, ragged_offset(job.seed, index, job.numel - 1, job.last));
    case FillKind::constant:
      return encode_real(t, job.lo);
    case FillKind::poison: {
      const std::uint64_t p = job.poison;
      if (t == DType::boolean) return p >> 30 & 1;
      switch (dtype_bytes(t)) {
        case 1:
          return p >> 24;
        case 2:
          return p >> 16;
        case 4:
          return p;
        default:
          return (p << 32) | p;
      }
    }
  }
  return 0;
}

RZ_HOST_DEVICE inline std::uint8_t canary_byte(std::uint32_t canary, const void* address) {
  return static_cast<std::uint8_t>(canary >> (8 * (reinterpret_cast<std::uintptr_t>(address) & 3)));
}

// Canaries differ from the poison and between trials, so that reading them changes results. They
// differ between buffers, so that a kernel which copies past the ends of two buffers is detected.
// `buffer`: any hash of the buffer's name.
RZ_HOST_DEVICE inline std::uint32_t canary_for(std::uint32_t poison, std::uint64_t buffer = 0) {
  return static_cast<std::uint32_t>(mix(poison ^ 0xca9a51u ^ (buffer << 32))) | 0x80808080u;
}

// A digest is the wrapping sum of this term over all words. It does not depend on the order, so
// that it can be computed in parallel, but on which element holds which bits. Missing elements of
// the last word count as zeros.
RZ_HOST_DEVICE inline std::uint64_t digest_term(std::uint64_t word, std::int64_t index) {
  return mix(word + static_cast<std::uint64_t>(index) * 0xd1342543de82ef95ull);
}

// The digest of elements that are added one by one, in memory order.
class ElementDigest {
 public:
  explicit ElementDigest(std::size_t element_bytes) : bytes_(element_bytes) {}

  // The element's bits; higher bits must be zero.
  void add(std::uint64_t bits) {
    word_ |= bits << (8 * bytes_ * static_cast<std::size_t>(lane_));
    if (++lane_ == elements_per_word(bytes_)) close();
  }
  std::uint64_t value() const { return lane_ == 0 ? sum_ : sum_ + digest_term(word_, index_); }

 private:
  void close() {
    sum_ += digest_term(word_, index_++);
    word_ = 0;
    lane_ = 0;
  }

  std::size_t bytes_;
  std::int64_t index_ = 0;  // of the open word
  std::int64_t lane_ = 0;   // elements in the open word
  std::uint64_t word_ = 0;
  std::uint64_t sum_ = 0;
};

// Distance, gaps included, from the first to the last element of a sub-array of the dims `dim` and
// inward, plus one.
RZ_HOST_DEVICE inline std::int64_t extent_elems(const BufferJob& job, int dim) {
  std::int64_t extent = 1;
  for (int k = dim; k < static_cast<int>(job.rank); ++k)
    extent += (job.size[k] - 1) * job.stride[k];
  return extent;
}

// Canary windows of a gap of `gap_bytes`: one that covers the whole gap, or one at each end.
struct GapWindows {
  std::uint64_t count, bytes;  // bytes of each window
};
RZ_HOST_DEVICE inline GapWindows gap_windows(std::uint64_t gap_bytes, std::uint64_t end_bytes) {
  if (gap_bytes <= 2 * end_bytes) return {1, gap_bytes};
  return {2, end_bytes};
}

// Offset in elements from `data` of the first element of run `run` (outer indices, row-major).
RZ_HOST_DEVICE inline std::int64_t run_offset(const BufferJob& job, std::int64_t run) {
  std::int64_t offset = 0;
  for (int k = static_cast<int>(job.rank) - 2; k >= 0; --k) {
    offset += (run % job.size[k]) * job.stride[k];
    run /= job.size[k];
  }
  return offset;
}

}  // namespace redzone::device
