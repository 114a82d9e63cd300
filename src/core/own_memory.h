// Counts the memory that a target allocates itself during its calls, as PyTorch does for tensors,
// instead of by Context::allocate().
#pragma once

#include <cstdint>

namespace redzone {

struct OwnMemory {
  std::uint64_t blocks = 0, bytes = 0;  // from the allocator of the plan
  // Not guarded: over the worker's limits, or allocated by libraries that the worker does not
  // intercept.
  std::uint64_t left_out_blocks = 0, left_out_bytes = 0;
  std::uint64_t other_blocks = 0, other_bytes = 0;
  std::uint64_t unpoisoned_blocks = 0;  // too large to be filled
  // Trials in a worker that could not guard such memory and counted nothing.
  std::uint64_t unguarded_trials = 0;

  OwnMemory& operator+=(const OwnMemory& more) {
    blocks += more.blocks;
    bytes += more.bytes;
    left_out_blocks += more.left_out_blocks;
    left_out_bytes += more.left_out_bytes;
    other_blocks += more.other_blocks;
    other_bytes += more.other_bytes;
    unpoisoned_blocks += more.unpoisoned_blocks;
    unguarded_trials += more.unguarded_trials;
    return *this;
  }
  bool operator==(const OwnMemory&) const = default;
};

}  // namespace redzone
