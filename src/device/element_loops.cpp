#include "device/element_loops.h"

#include <array>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "device/buffer_math.h"

namespace redzone::device {
namespace {

constexpr std::size_t kDTypes = 9;
constexpr std::size_t kFillKinds = 5;

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

  static void fill(const BufferJob& job, std::byte* at, std::int64_t first, std::int64_t n) {
    const BufferJob j = constant_job(job);
    if constexpr (kSameEverywhere) {
      const Bits bits = static_cast<Bits>(fill_bits(j, 0));
      for (std::int64_t i = 0; i < n; ++i) std::memcpy(at + i * sizeof bits, &bits, sizeof bits);
    } else {
      for (std::int64_t i = 0; i < n; ++i) {
        const Bits bits = static_cast<Bits>(fill_bits(j, first + i));
        std::memcpy(at + i * sizeof bits, &bits, sizeof bits);
      }
    }
  }
  static void verify(const BufferJob& job, const std::byte* at, std::int64_t first, std::int64_t n,
                     RunSums& sums) {
    const BufferJob j = constant_job(job);
    std::uint64_t digest = 0, changed = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      Bits bits;
      std::memcpy(&bits, at + i * sizeof bits, sizeof bits);
      digest += digest_term(bits, first + i);
      changed += bits != static_cast<Bits>(fill_bits(j, first + i));
    }
    sums.digest += digest;
    sums.changed += changed;
  }
};

template <class Bits>
void digest_run(const std::byte* at, std::int64_t first, std::int64_t n, RunSums& sums) {
  std::uint64_t digest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    Bits bits;
    std::memcpy(&bits, at + i * sizeof bits, sizeof bits);
    digest += digest_term(bits, first + i);
  }
  sums.digest += digest;
}

// The loops once for each kind of processor. fmaf() rounds once, in hardware as in software, and
// sums of words wrap in any order, so the results are equal.
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

// GCC prefers registers of 256 bits unless it is told otherwise. Clang cannot be told for a
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
  // Only for fills that occur by the megabyte; for the others it would only add code.
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

void decode_elements(DType type, const std::byte* at, std::int64_t n, double* to) {
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
  }
}

}  // namespace redzone::device
