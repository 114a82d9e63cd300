// Loops over elements that lie side by side, compiled once for each fill and element type: the host
// device fills and checks with them, and the reference makes its inputs. What the bits are is said
// in device/buffer_math.h; how fast a loop is changes none of them.
#pragma once

#include <redzone/spec.h>

#include <cstddef>
#include <cstdint>

#include "device/buffer_job.h"

namespace redzone::device {

struct RunSums {
  std::uint64_t digest = 0;
  std::uint64_t changed = 0;
};

// `n` elements from `at` on, which may be unaligned; `first` is the index of the first in memory
// order.
struct ElementLoops {
  // Writes what fill_bits() says.
  void (*fill)(const BufferJob& job, std::byte* at, std::int64_t first, std::int64_t n);
  // Adds the digest of the elements, and how many of them differ from the fill.
  void (*verify)(const BufferJob& job, const std::byte* at, std::int64_t first, std::int64_t n,
                 RunSums& sums);
  // Adds the digest alone.
  void (*digest)(const std::byte* at, std::int64_t first, std::int64_t n, RunSums& sums);
};

// What the loops are compiled for: any processor; one with fused multiply-add in hardware; one that
// also multiplies 64-bit words eight at a time. All give the same bits.
enum class LoopsFor : std::uint8_t { any, fma, avx512 };
// The best that this processor has.
LoopsFor best_loops();

// Those of the job's fill and element type, for this processor or for one that is no better. The
// job must hold a known one of each.
const ElementLoops& element_loops(const BufferJob& job, LoopsFor processor = best_loops());

// As decode() in device/element.h gives them.
void decode_elements(DType type, const std::byte* at, std::int64_t n, double* to);

}  // namespace redzone::device
