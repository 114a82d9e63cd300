// Keeps segments of a stream-ordered allocator whose blocks outlive their trial. When such an
// allocator releases its segments at the end of a trial, a segment that still holds a live block is
// kept unchanged until its last block is freed, so that nothing else gets the memory of a survivor.
#pragma once

#include <map>

#include "device/device.h"

namespace redzone::memory_preload {

class SegmentKeeper final : public device::Memory {
 public:
  // `memory` must outlive this object.
  explicit SegmentKeeper(device::Memory& memory) : memory_(memory) {}

  device::Status<device::Region> acquire(std::size_t bytes) override;
  void release(device::Region segment) override;
  void trim() override { memory_.trim(); }
  std::uint64_t mapping_calls() const override { return memory_.mapping_calls(); }

  // Records a live block of an acquired segment. Returns the part at its end that no block has used
  // since the segment was acquired: allocators leave the end of a segment unused.
  device::Region add(device::Region block);
  // Records that the block is freed. Returns false if its segment has been released, so that its
  // allocator no longer has the block.
  bool remove(device::Region block);
  // Number of released segments that wait for the free of survivors.
  std::size_t kept() const { return kept_; }

 private:
  struct Segment {
    device::Region region;
    const std::byte* used_to = nullptr;
    std::size_t live = 0;  // number of live blocks
    bool released = false;
  };
  using Segments = std::map<const std::byte*, Segment>;

  Segments::iterator segment_of(const device::Region& block);

  device::Memory& memory_;
  Segments segments_;
  std::size_t kept_ = 0;
};

}  // namespace redzone::memory_preload
