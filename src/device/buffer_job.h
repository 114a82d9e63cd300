// How to fill, check and digest one buffer before and after the calls of a trial.
//
// Shared by the host device, the CUDA kernels and the driver: plain data whose only pointers are to
// device memory. A trial fills all its buffers in one batch and checks them in one batch.
#pragma once

#include <cstdint>

namespace redzone::device {

inline constexpr int kMaxRank = 6;

enum class FillKind : std::uint8_t {
  uniform,
  integers,
  offsets,
  constant,
  poison,
  sparse,
  special
};

// Elements are addressed in memory order: index (i_0 .. i_r-1) lies `sum(i_k * stride[k])` elements
// after `data`; the innermost stride is 1. A run is one innermost row.
struct BufferJob {
  void* data;                     // element 0
  std::int64_t size[kMaxRank];    // outermost first; unused leading entries are absent
  std::int64_t stride[kMaxRank];  // elements
  std::uint32_t rank;             // 1..kMaxRank
  std::uint8_t dtype;             // as redzone::DType, not complex: see real_type()
  FillKind fill;
  bool verify_unchanged;  // check: count elements that differ from the fill
  std::int64_t numel;
  double lo, hi;             // uniform, special: [lo, hi); constant: lo
  std::int64_t first, last;  // integers: inclusive; offsets: 0 .. last
  std::uint64_t seed;
  std::uint32_t poison;  // word repeated over poisoned elements, by element index
  std::uint32_t canary;  // word whose bytes are repeated over the canaries, by address
  // Canary windows directly before and after the storage.
  void* before;
  std::uint64_t before_bytes;
  void* after;
  std::uint64_t after_bytes;
  // A gap lies between the end of a run and the start of the next. Its first and last
  // `gap_end_bytes` bytes are canaries, all of the gap if the two meet; 0: none.
  std::uint64_t gap_end_bytes;
};

struct BufferCheck {
  std::uint64_t digest;                                 // see buffer_math.h; independent of layout
  std::uint64_t dirty_before, dirty_after, dirty_gaps;  // bytes
  std::uint64_t changed;                                // elements
  std::int64_t first_dirty_byte;  // smallest offset from `data`; INT64_MAX: none
};

// Longest canary window on each side of a buffer.
inline constexpr std::uint64_t kCanaryWindowBytes = 64 * 1024;
// Value of BufferJob::gap_end_bytes that makes all of every gap canaries.
inline constexpr std::uint64_t kWholeGaps = std::uint64_t{1} << 62;

}  // namespace redzone::device
