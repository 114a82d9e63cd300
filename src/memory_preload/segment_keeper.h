// Segments of an allocator in stream order, for blocks that may outlive their trial. When such an
// allocator returns its segments at the end of a trial, those that still hold a live block are kept
// as they are until the last of them is freed. So nobody else gets the memory of a survivor.
#pragma once

#include <map>

#include "device/device.h"

namespace redzone::memory_preload {

class SegmentKeeper final : public device::Memory {
 public:
  // `memory` must outlive this.
  explicit SegmentKeeper(device::Memory& memory) : memory_(memory) {}

  device::Status<device::Region> acquire(std::size_t bytes) override;
  void release(device::Region segment) override;
  void trim() override { memory_.trim(); }
  std::uint64_t mapping_calls() const override { return memory_.mapping_calls(); }

  // A block of an acquired segment is live from now on. Returns its end part that no block has
  // been in since the segment was acquired: what allocators leave unused is at a segment's end.
  device::Region add(device::Region block);
  // The block is freed. False if its segment has been released, so that its allocator no longer
  // knows the block.
  bool remove(device::Region block);
  // Segments that wait for survivors.
  std::size_t kept() const { return kept_; }

 private:
  struct Segment {
    device::Region region;
    const std::byte* used_to = nullptr;
    std::size_t live = 0;  // blocks
    bool released = false;
  };
  using Segments = std::map<const std::byte*, Segment>;

  Segments::iterator segment_of(const device::Region& block);

  device::Memory& memory_;
  Segments segments_;
  std::size_t kept_ = 0;
};

}  // namespace redzone::memory_preload
