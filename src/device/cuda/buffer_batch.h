// A batch of buffer jobs as the fill and check kernels read it. Shared by the host side, which
// builds it, and buffer_kernels.cu.
//
// The work of a batch is cut into slots of 16 bytes, slots into chunks, and chunks are spread over
// the grid, so that one buffer of 512 MiB and a hundred small ones are both fast. A piece is one
// kind of work on one buffer; pieces occupy consecutive chunks without gaps.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/buffer_job.h"

namespace redzone::device::cuda {

inline constexpr unsigned kBlockThreads = 256;
// Minimum number of blocks that can run at the same time on a multiprocessor: this limits the
// registers per thread.
inline constexpr unsigned kBlocksPerProcessor = 3;
inline constexpr std::uint64_t kSlotBytes = 16;
inline constexpr std::uint64_t kChunkSlots = 1024;

enum class PieceKind : std::uint16_t {
  // If n elements have 16 bytes, slot s contains the elements with these memory-order indices. To
  // fill: [s * n - lead, (s + 1) * n - lead); to check: [s * n, (s + 1) * n).
  elements,
  before,  // slot s: bytes [16 * s, 16 * (s + 1)) from the window's start rounded down to 16
  after,   // likewise
  gaps,    // slots_per_window() slots for each window of each gap of one dim, each as in `before`
};

struct Piece {
  std::uint64_t first_chunk;  // of the batch
  std::uint64_t slots;
  std::uint32_t job;
  PieceKind kind;
  std::uint16_t dim;  // gaps: those between consecutive indices of this dim
};
static_assert(sizeof(Piece) == 24);

// A job whose dims are merged as far as they are contiguous in memory.
struct SlotJob {
  BufferJob job;
  // Number of elements by which slots to fill are shifted so that whole slots are aligned in
  // memory; below 16.
  std::uint32_t lead;
  // 1: a whole slot is contiguous and aligned, so that one access of 16 bytes suffices.
  std::uint32_t vector;
};

// Kernel arguments. A sentinel whose first_chunk is `chunks` follows the pieces.
struct BatchView {
  const SlotJob* jobs;
  const Piece* pieces;
  std::uint32_t piece_count;  // without the sentinel
  std::uint64_t chunks;
  BufferCheck* results;  // check only: one for each job, initialized by clean_check()
};

// A small batch that is passed in the kernel's parameters instead of by a copy.
inline constexpr std::size_t kInlineJobs = 12;
inline constexpr std::size_t kInlinePieces = 4 * kInlineJobs;
struct InlineBatch {
  std::uint64_t chunks;
  std::uint32_t piece_count;
  std::uint32_t reserved;
  Piece pieces[kInlinePieces + 1];
  SlotJob jobs[kInlineJobs];
};
static_assert(sizeof(InlineBatch) <= 4096, "kernel parameters of every device and driver");

// Slots that cover a window of a gap at any alignment.
constexpr std::uint64_t slots_per_window(std::uint64_t bytes) {
  return bytes / kSlotBytes + 2;
}

constexpr BufferCheck clean_check() {
  return {0, 0, 0, 0, 0, INT64_MAX};
}

}  // namespace redzone::device::cuda
