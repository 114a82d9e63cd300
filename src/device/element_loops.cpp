#include "device/element_loops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "device/buffer_math.h"

namespace redzone::device {
namespace {

// The real types, which precede the complex ones.
constexpr std::size_t kDTypes = static_cast<std::size_t>(DType::c64);
constexpr std::size_t kFillKinds = static_cast<std::size_t>(FillKind::special) + 1;

template <std::size_t Bytes>
struct BitsOf;
template <>
struct BitsOf<1> {
  using type = std::uint8_t;
};
template <>
struct BitsOf<2> {
  using type = std::uint16_t;
};
template <>
struct BitsOf<4> {
  using type = std::uint32_t;
};
template <>
struct BitsOf<8> {
  using type = std::uint64_t;
};

// Number of words whose elements are generated at a time: they stay in the cache.
constexpr std::int64_t kBlockWords = 64;

// Elements are little-endian and packed, so a whole word is read as it is.
template <class Bits>
void digest_run(const std::byte* at, std::int64_t first, std::int64_t n, RunSums& sums) {
  constexpr auto kPerWord = elements_per_word(sizeof(Bits));
  std::int64_t word = first / kPerWord;
  if (const std::int64_t lane = first % kPerWord; lane != 0) {
    const std::int64_t head = std::min(n, kPerWord - lane);
    std::uint64_t more = 0;
    std::memcpy(&more, at, static_cast<std::size_t>(head) * sizeof(Bits));
    sums.open_word |= more << (8 * sizeof(Bits) * static_cast<std::size_t>(lane));
    if (lane + head < kPerWord) return;
    sums.digest += digest_term(sums.open_word, word++);
    sums.open_word = 0;
    at += head * static_cast<std::int64_t>(sizeof(Bits));
    n -= head;
  }
  const std::int64_t words = n / kPerWord;
  std::uint64_t digest = 0;
  for (std::int64_t w = 0; w < words; ++w) {
    std::uint64_t bits;
    std::memcpy(&bits, at + w * static_cast<std::int64_t>(kWordBytes), sizeof bits);
    digest += digest_term(bits, word + w);
  }
  sums.digest += digest;
  std::memcpy(&sums.open_word, at + words * static_cast<std::int64_t>(kWordBytes),
              static_cast<std::size_t>(n % kPerWord) * sizeof(Bits));
}

// `fill` and `dtype` are constants, so the compiler removes the switches of fill_bits(). Elements
// may be unaligned, so they are copied by memcpy.
template <FillKind Kind, DType Type>
struct Loop {
  using Bits = typename BitsOf<dtype_bytes(Type)>::type;

  static BufferJob constant_job(const BufferJob& job) {
    BufferJob j = job;
    j.fill = Kind;
    j.dtype = static_cast<std::uint8_t>(Type);
    return j;
  }
  static constexpr bool kSameEverywhere = Kind == FillKind::constant || Kind == FillKind::poison;
  static constexpr bool kFiner = Kind == FillKind::uniform && uses_finer_word(Type);

  static void fill(const BufferJob& job, std::byte* at, std::int64_t first, std::int64_t n) {
    const BufferJob j = constant_job(job);
    if constexpr (kSameEverywhere)
      put_same(static_cast<Bits>(fill_bits(j, 0)), at, n);
    else if constexpr (Kind == FillKind::uniform || Kind == FillKind::sparse)
      put_words(j, at, first, n);
    else
      put_each(j, at, first, n);
  }
  static void verify(const BufferJob& job, const std::byte* at, std::int64_t first, std::int64_t n,
                     RunSums& sums) {
    std::byte filled[kBlockWords * kWordBytes];
    constexpr std::int64_t kMost = kBlockWords * elements_per_word(sizeof(Bits));
    std::uint64_t changed = 0;
    for (std::int64_t begin = 0; begin < n; begin += kMost) {
      const std::int64_t count = n - begin < kMost ? n - begin : kMost;
      fill(job, filled, first + begin, count);
      changed += differing(at + begin * kBytes, filled, count);
    }
    sums.changed += changed;
    digest_run<Bits>(at, first, n, sums);
  }

 private:
  static constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Bits));

  static void put(std::byte* at, std::int64_t i, Bits bits) {
    std::memcpy(at + i * kBytes, &bits, sizeof bits);
  }
  static void put_same(Bits bits, std::byte* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) put(at, i, bits);
  }
  static void put_each(const BufferJob& j, std::byte* at, std::int64_t first, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) put(at, i, static_cast<Bits>(fill_bits(j, first + i)));
  }
  static std::uint64_t element(const BufferJob& j, Bits random, Bits finer) {
    if constexpr (Kind == FillKind::sparse)
      return sparse_element(Type, random);
    else
      return uniform_element(Type, j.lo, j.hi, random, finer);
  }
  // Generates a block of random words at a time, then its elements.
  static void put_words(const BufferJob& j, std::byte* at, std::int64_t first, std::int64_t n) {
    constexpr std::int64_t kPerWord = elements_per_word(sizeof(Bits));
    const std::int64_t head = std::min(n, (kPerWord - first % kPerWord) % kPerWord);
    put_each(j, at, first, head);
    std::int64_t done = head;
    while (n - done >= kPerWord) {
      std::uint64_t words[kBlockWords];
      const std::int64_t count = std::min<std::int64_t>(kBlockWords, (n - done) / kPerWord);
      const std::int64_t word = (first + done) / kPerWord;
      for (std::int64_t w = 0; w < count; ++w) words[w] = random_word(j.seed, word + w);
      std::uint64_t finer_words[kBlockWords];
      if constexpr (kFiner)
        for (std::int64_t w = 0; w < count; ++w) finer_words[w] = finer_word(words[w]);
      const auto* random = reinterpret_cast<const std::byte*>(words);
      const auto* finer = reinterpret_cast<const std::byte*>(finer_words);
      for (std::int64_t i = 0; i < count * kPerWord; ++i) {
        Bits bits, more = 0;
        std::memcpy(&bits, random + i * kBytes, sizeof bits);
        if constexpr (kFiner) std::memcpy(&more, finer + i * kBytes, sizeof more);
        put(at, done + i, static_cast<Bits>(element(j, bits, more)));
      }
      done += count * kPerWord;
    }
    put_each(j, at + done * kBytes, first + done, n - done);
  }
  static std::uint64_t differing(const std::byte* a, const std::byte* b, std::int64_t n) {
    std::uint64_t changed = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      Bits left, right;
      std::memcpy(&left, a + i * kBytes, sizeof left);
      std::memcpy(&right, b + i * kBytes, sizeof right);
      changed += left != right;
    }
    return changed;
  }
};

// The loops, compiled for each kind of processor. fmaf() rounds once, in hardware as in software,
// and sums of words wrap in any order, so the results are equal.
struct Plain {
  template <class L>
  [[gnu::flatten]] static void fill(const BufferJob& job, std::byte* at, std::int64_t first,
                                    std::int64_t n) {
    L::fill(job, at, first, n);
  }
  template <class L>
  [[gnu::flatten]] static void verify(const BufferJob& job, const std::byte* at, std::int64_t first,
                                      std::int64_t n, RunSums& sums) {
    L::verify(job, at, first, n, sums);
  }
  template <class Bits>
  [[gnu::flatten]] static void digest(const std::byte* at, std::int64_t first, std::int64_t n,
                                      RunSums& sums) {
    digest_run<Bits>(at, first, n, sums);
  }
};

struct Fma {
  template <class L>
  [[gnu::flatten, gnu::target("fma")]] static void fill(const BufferJob& job, std::byte* at,
                                                        std::int64_t first, std::int64_t n) {
    L::fill(job, at, first, n);
  }
  template <class L>
  [[gnu::flatten, gnu::target("fma")]] static void verify(const BufferJob& job, const std::byte* at,
                                                          std::int64_t first, std::int64_t n,
                                                          RunSums& sums) {
    L::verify(job, at, first, n, sums);
  }
};

// GCC prefers 256-bit registers unless an option requests 512 bits. Clang has no such option per
// function.
#ifdef __clang__
#define REDZONE_WIDE "fma,avx512f,avx512dq,avx512bw,avx512vl"
#else
#define REDZONE_WIDE "fma,avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512"
#endif
struct Wide {
  template <class L>
  [[gnu::flatten, gnu::target(REDZONE_WIDE)]] static void fill(const BufferJob& job, std::byte* at,
                                                               std::int64_t first, std::int64_t n) {
    L::fill(job, at, first, n);
  }
  template <class L>
  [[gnu::flatten, gnu::target(REDZONE_WIDE)]] static void verify(const BufferJob& job,
                                                                 const std::byte* at,
                                                                 std::int64_t first, std::int64_t n,
                                                                 RunSums& sums) {
    L::verify(job, at, first, n, sums);
  }
  template <class Bits>
  [[gnu::flatten, gnu::target(REDZONE_WIDE)]] static void digest(const std::byte* at,
                                                                 std::int64_t first, std::int64_t n,
                                                                 RunSums& sums) {
    digest_run<Bits>(at, first, n, sums);
  }
};

template <std::size_t I>
ElementLoops loops_at(LoopsFor processor) {
  constexpr auto kKind = static_cast<FillKind>(I / kDTypes);
  constexpr auto kType = static_cast<DType>(I % kDTypes);
  using L = Loop<kKind, kType>;
  using Bits = typename L::Bits;
  const bool wide = processor == LoopsFor::avx512;
  const auto digest = wide ? &Wide::digest<Bits> : &Plain::digest<Bits>;
  // Only for the fill that most inputs have; for other fills this would add code and save little
  // time.
  if constexpr (kKind == FillKind::uniform) {
    if (wide) return {&Wide::fill<L>, &Wide::verify<L>, digest};
    if (processor == LoopsFor::fma) return {&Fma::fill<L>, &Fma::verify<L>, digest};
  }
  return {&Plain::fill<L>, &Plain::verify<L>, digest};
}

using AllLoops = std::array<ElementLoops, kFillKinds * kDTypes>;

template <std::size_t... I>
AllLoops all_loops(LoopsFor processor, std::index_sequence<I...>) {
  return {loops_at<I>(processor)...};
}

AllLoops all_loops(LoopsFor processor) {
  return all_loops(processor, std::make_index_sequence<kFillKinds * kDTypes>{});
}

template <DType Type>
void decode_all(const std::byte* at, std::int64_t n, double* to) {
  constexpr auto kBytes = static_cast<std::int64_t>(dtype_bytes(Type));
  for (std::int64_t i = 0; i < n; ++i) to[i] = decode(Type, at + i * kBytes);
}

}  // namespace

LoopsFor best_loops() {
  if (!__builtin_cpu_supports("fma")) return LoopsFor::any;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return wide ? LoopsFor::avx512 : LoopsFor::fma;
}

const ElementLoops& element_loops(const BufferJob& job, LoopsFor processor) {
  static const std::array<AllLoops, 3> loops = {all_loops(LoopsFor::any), all_loops(LoopsFor::fma),
                                                all_loops(LoopsFor::avx512)};
  const std::size_t kind = static_cast<std::size_t>(job.fill);
  RZ_CHECK(kind < kFillKinds && job.dtype < kDTypes);
  return loops[static_cast<std::size_t>(processor)][kind * kDTypes + job.dtype];
}

std::uint64_t digest_of(const RunSums& sums, DType type, std::int64_t numel) {
  const std::int64_t n = elements_per_word(dtype_bytes(type));
  return numel % n == 0 ? sums.digest : sums.digest + digest_term(sums.open_word, numel / n);
}

void decode_elements(DType type, const std::byte* at, std::int64_t n, double* to) {
  RZ_CHECK(real_type(type) == type);
  switch (type) {
    case DType::f32:
      return decode_all<DType::f32>(at, n, to);
    case DType::f64:
      return decode_all<DType::f64>(at, n, to);
    case DType::f16:
      return decode_all<DType::f16>(at, n, to);
    case DType::bf16:
      return decode_all<DType::bf16>(at, n, to);
    case DType::i8:
      return decode_all<DType::i8>(at, n, to);
    case DType::u8:
      return decode_all<DType::u8>(at, n, to);
    case DType::i32:
      return decode_all<DType::i32>(at, n, to);
    case DType::u32:
      return decode_all<DType::u32>(at, n, to);
    case DType::i64:
      return decode_all<DType::i64>(at, n, to);
    case DType::boolean:
      return decode_all<DType::boolean>(at, n, to);
    case DType::i16:
      return decode_all<DType::i16>(at, n, to);
    case DType::u16:
      return decode_all<DType::u16>(at, n, to);
    case DType::u64:
      return decode_all<DType::u64>(at, n, to);
    case DType::f8e4m3:
      return decode_all<DType::f8e4m3>(at, n, to);
    case DType::f8e5m2:
      return decode_all<DType::f8e5m2>(at, n, to);
    case DType::c64:
    case DType::c128:
      break;
  }
}

}  // namespace redzone::device
