// Splits buffer jobs into pieces. Pure: no device.
#pragma once

#include <span>
#include <vector>

#include "device/cuda/buffer_batch.h"

namespace redzone::device::cuda {

// Reused between batches so that planning allocates nothing in steady state.
struct BatchPlan {
  std::vector<SlotJob> jobs;  // one per given job, in order
  std::vector<Piece> pieces;  // including the sentinel
  std::uint64_t chunks = 0;

  std::uint32_t piece_count() const { return static_cast<std::uint32_t>(pieces.size() - 1); }
};

void plan_batch(std::span<const BufferJob> jobs, BatchPlan& plan);

}  // namespace redzone::device::cuda
