// Loops over contiguous elements, compiled once for each fill and element type. The host device
// fills and checks with them, and the reference generates its inputs with them.
// device/buffer_math.h defines the bits; all loops produce the same ones.
#pragma once

#include <redzone/spec.h>

#include <cstddef>
#include <cstdint>

#include "device/buffer_job.h"

namespace redzone::device {

struct RunSums {
  std::uint64_t digest = 0;  // of the complete words so far
  std::uint64_t changed = 0;
  std::uint64_t open_word = 0;  // elements of an incomplete word, which the next run continues
};

// The digest after all elements of a tensor have been added: `numel` elements of this type.
std::uint64_t digest_of(const RunSums& sums, DType type, std::int64_t numel);

// Loops over `n` elements starting at `at`, which may be unaligned; `first` is the index of the
// first element in memory order. Sums continue over consecutive runs: `first` is 0 or the end of
// the previous run.
struct ElementLoops {
  // Writes the elements of fill_bits().
  void (*fill)(const BufferJob& job, std::byte* at, std::int64_t first, std::int64_t n);
  // Adds the elements to the digest, and counts the elements that differ from the fill.
  void (*verify)(const BufferJob& job, const std::byte* at, std::int64_t first, std::int64_t n,
                 RunSums& sums);
  // Adds only to the digest.
  void (*digest)(const std::byte* at, std::int64_t first, std::int64_t n, RunSums& sums);
};

// Instruction sets that the loops are compiled for: any processor; fused multiply-add in hardware;
// and 512-bit vectors with 64-bit multiplication. All produce the same bits.
enum class LoopsFor : std::uint8_t { any, fma, avx512 };
// The best instruction set that this processor supports.
LoopsFor best_loops();

// The loops for the job's fill and element type, which must be a real type. This processor must
// support `processor`.
const ElementLoops& element_loops(const BufferJob& job, LoopsFor processor = best_loops());

// Converts elements of a real type like decode() in device/element.h.
void decode_elements(DType type, const std::byte* at, std::int64_t n, double* to);

}  // namespace redzone::device
