// A block cache like PyTorch's CUDACachingAllocator, over segments of a device's ordinary memory.
// Its rules (of c10/cuda/CUDACachingAllocator.cpp, implemented anew here):
//
//   sizes are multiples of 512 bytes; up to 1 MiB is small, and small and large blocks have
//   separate segments; a segment is 2 MiB for small blocks, 20 MiB for less than 10 MiB, else the
//   size rounded up to 2 MiB; the smallest free block that fits is taken, and split if 512 bytes
//   (small) or more than 1 MiB (large) remain; a freed block merges with free neighbours and can be
//   reused at once, in the order of the host's calls, but only by its stream.
//
// As in PyTorch, nothing waits for the work that used a block: the stream must order its two
// owners. Unlike PyTorch, a block belongs to the stream that it was freed on, not to the one that
// it was allocated for, as redzone::Context::free() specifies.
#pragma once

#include "device/block_heap.h"
#include "device/device.h"

namespace redzone::device {

class CachingMemory final : public OrderedMemory {
 public:
  // `segments` must outlive this object; its regions of 2 MiB and more must start at multiples of
  // 512.
  explicit CachingMemory(Memory& segments) : segments_(segments) {}

  Status<Region> acquire(std::size_t bytes, int stream) override;
  Status<void> release(Region region, int stream) override;
  std::uint64_t mapping_calls() const override { return segments_.mapping_calls(); }

  // Returns all segments, so that the next requests find an empty cache. Requires that nothing is
  // in flight.
  void reset();

  std::size_t segments() const { return heap_.segments(); }
  std::size_t free_blocks() const { return heap_.free_blocks(); }

 private:
  Memory& segments_;
  BlockHeap heap_;
};

}  // namespace redzone::device
