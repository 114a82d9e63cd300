#include "device/host/buffers.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/error.h"
#include "device/buffer_math.h"

namespace redzone::device {

namespace {

// ---- Elements ----------------------------------------------------------------------------------

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

struct RunSums {
  std::uint64_t digest = 0;
  std::uint64_t changed = 0;
};

// The loops are compiled once for each fill and element type: with `fill` and `dtype` constant the
// switches of fill_bits() fall away. Elements may lie unaligned, so they are moved by memcpy.
template <FillKind Kind, DType Type>
struct Run {
  using Bits = typename BitsOf<dtype_bytes(Type)>::type;

  [[gnu::always_inline]] static BufferJob constant_job(const BufferJob& job) {
    BufferJob j = job;
    j.fill = Kind;
    j.dtype = static_cast<std::uint8_t>(Type);
    return j;
  }
  static constexpr bool kSameEverywhere = Kind == FillKind::constant || Kind == FillKind::poison;

  [[gnu::always_inline]] static void fill_loop(const BufferJob& job, std::byte* at,
                                               std::int64_t first, std::int64_t n) {
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
  [[gnu::always_inline]] static void verify_loop(const BufferJob& job, const std::byte* at,
                                                 std::int64_t first, std::int64_t n,
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

  [[gnu::flatten]] static void fill(const BufferJob& job, std::byte* at, std::int64_t first,
                                    std::int64_t n) {
    fill_loop(job, at, first, n);
  }
  [[gnu::flatten]] static void verify(const BufferJob& job, const std::byte* at, std::int64_t first,
                                      std::int64_t n, RunSums& sums) {
    verify_loop(job, at, first, n, sums);
  }
  // The same with fused multiply-add in hardware: the same bits, without a call for each element.
  [[gnu::flatten, gnu::target("fma")]] static void fill_fma(const BufferJob& job, std::byte* at,
                                                            std::int64_t first, std::int64_t n) {
    fill_loop(job, at, first, n);
  }
  [[gnu::flatten, gnu::target("fma")]] static void verify_fma(const BufferJob& job,
                                                              const std::byte* at,
                                                              std::int64_t first, std::int64_t n,
                                                              RunSums& sums) {
    verify_loop(job, at, first, n, sums);
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

struct Loops {
  void (*fill)(const BufferJob&, std::byte*, std::int64_t, std::int64_t);
  void (*verify)(const BufferJob&, const std::byte*, std::int64_t, std::int64_t, RunSums&);
};

template <std::size_t I>
Loops loops_at(bool fma) {
  constexpr auto kKind = static_cast<FillKind>(I / kDTypes);
  constexpr auto kType = static_cast<DType>(I % kDTypes);
  using R = Run<kKind, kType>;
  if constexpr (kKind == FillKind::uniform)
    if (fma) return {&R::fill_fma, &R::verify_fma};
  return {&R::fill, &R::verify};
}

template <std::size_t... I>
std::array<Loops, sizeof...(I)> all_loops(std::index_sequence<I...>) {
  const bool fma = __builtin_cpu_supports("fma");
  return {loops_at<I>(fma)...};
}

const Loops& loops_of(const BufferJob& job) {
  static const auto loops = all_loops(std::make_index_sequence<kFillKinds * kDTypes>{});
  const std::size_t kind = static_cast<std::size_t>(job.fill);
  RZ_CHECK(kind < kFillKinds && job.dtype < kDTypes);
  return loops[kind * kDTypes + job.dtype];
}

void digest_elements(DType type, const std::byte* at, std::int64_t first, std::int64_t n,
                     RunSums& sums) {
  switch (dtype_bytes(type)) {
    case 1:
      return digest_run<std::uint8_t>(at, first, n, sums);
    case 2:
      return digest_run<std::uint16_t>(at, first, n, sums);
    case 4:
      return digest_run<std::uint32_t>(at, first, n, sums);
    default:
      return digest_run<std::uint64_t>(at, first, n, sums);
  }
}

// ---- Runs --------------------------------------------------------------------------------------

// Calls `visit(start of the run, index of its first element, last?)` for each run in memory order.
template <class Visit>
void for_each_run(const BufferJob& job, Visit visit) {
  if (job.numel == 0) return;
  const int rank = static_cast<int>(job.rank);
  const std::int64_t length = job.size[rank - 1];
  const std::int64_t bytes = static_cast<std::int64_t>(dtype_bytes(static_cast<DType>(job.dtype)));
  std::int64_t at[kMaxRank] = {};
  std::byte* run = static_cast<std::byte*>(job.data);
  for (std::int64_t first = 0;; first += length) {
    const bool last = first + length >= job.numel;
    visit(run, first, last);
    if (last) return;
    for (int k = rank - 2; k >= 0; --k) {
      run += job.stride[k] * bytes;
      if (++at[k] < job.size[k]) break;
      run -= job.stride[k] * bytes * job.size[k];
      at[k] = 0;
    }
  }
}

// ---- Canaries ----------------------------------------------------------------------------------

std::uint64_t doubled(std::uint32_t canary) {
  return std::uint64_t{canary} << 32 | canary;
}

// Bytes up to the next address that is a multiple of 8, at most `n`.
std::uint64_t head_of(const std::byte* at, std::uint64_t n) {
  return std::min<std::uint64_t>(n, (8 - (reinterpret_cast<std::uintptr_t>(at) & 7)) & 7);
}

void fill_canary_bytes(std::byte* at, std::uint64_t n, std::uint32_t canary) {
  for (std::uint64_t i = 0; i < n; ++i) at[i] = std::byte{canary_byte(canary, at + i)};
}

void fill_canary(std::byte* at, std::uint64_t n, std::uint32_t canary) {
  const std::uint64_t head = head_of(at, n), words = (n - head) / 8;
  fill_canary_bytes(at, head, canary);
  at += head;
  const std::uint64_t word = doubled(canary);
  for (std::uint64_t i = 0; i < words; ++i) std::memcpy(at + 8 * i, &word, 8);
  fill_canary_bytes(at + 8 * words, n - head - 8 * words, canary);
}

struct DirtyBytes {
  const BufferJob& job;
  BufferCheck& result;

  std::uint64_t bytes(const std::byte* at, std::uint64_t n) {
    std::uint64_t dirty = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      if (at[i] == std::byte{canary_byte(job.canary, at + i)}) continue;
      ++dirty;
      // By number: the windows and the data are one region, but not one array.
      const auto offset = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at + i) -
                                                    reinterpret_cast<std::uintptr_t>(job.data));
      result.first_dirty_byte = std::min(result.first_dirty_byte, offset);
    }
    return dirty;
  }

  std::uint64_t count(const std::byte* at, std::uint64_t n) {
    const std::uint64_t head = head_of(at, n), words = (n - head) / 8;
    std::uint64_t dirty = bytes(at, head);
    at += head;
    const std::uint64_t word = doubled(job.canary);
    for (std::uint64_t i = 0; i < words; ++i) {
      std::uint64_t found;
      std::memcpy(&found, at + 8 * i, 8);
      if (found != word) dirty += bytes(at + 8 * i, 8);
    }
    return dirty + bytes(at + 8 * words, n - head - 8 * words);
  }
};

std::int64_t run_bytes(const BufferJob& job) {
  return job.size[job.rank - 1] *
         static_cast<std::int64_t>(dtype_bytes(static_cast<DType>(job.dtype)));
}

}  // namespace

void fill_buffer(const BufferJob& job) {
  const Loops& loops = loops_of(job);
  const std::int64_t length = job.size[job.rank - 1], bytes = run_bytes(job);
  for_each_run(job, [&](std::byte* run, std::int64_t first, bool last) {
    loops.fill(job, run, first, length);
    if (!last && job.gap_bytes > 0) fill_canary(run + bytes, job.gap_bytes, job.canary);
  });
  fill_canary(static_cast<std::byte*>(job.before), job.before_bytes, job.canary);
  fill_canary(static_cast<std::byte*>(job.after), job.after_bytes, job.canary);
}

BufferCheck check_buffer(const BufferJob& job) {
  BufferCheck result = {};
  result.first_dirty_byte = std::numeric_limits<std::int64_t>::max();
  DirtyBytes dirty{job, result};
  const Loops& loops = loops_of(job);
  const std::int64_t length = job.size[job.rank - 1], bytes = run_bytes(job);
  RunSums sums;
  for_each_run(job, [&](std::byte* run, std::int64_t first, bool last) {
    if (job.verify_unchanged)
      loops.verify(job, run, first, length, sums);
    else
      digest_elements(static_cast<DType>(job.dtype), run, first, length, sums);
    if (!last && job.gap_bytes > 0) result.dirty_gaps += dirty.count(run + bytes, job.gap_bytes);
  });
  result.digest = sums.digest;
  result.changed = sums.changed;
  result.dirty_before = dirty.count(static_cast<const std::byte*>(job.before), job.before_bytes);
  result.dirty_after = dirty.count(static_cast<const std::byte*>(job.after), job.after_bytes);
  return result;
}

}  // namespace redzone::device
