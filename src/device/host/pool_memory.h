// The stream-ordered pool of the host device: cuMemAllocAsync's semantics, as cuda.h documents its
// CU_MEMPOOL_ATTR_REUSE_* attributes.
//
// Memory that was freed on a stream may be reused on that stream at once. Another stream may reuse
// it if the host has waited for the free; if events order the stream after the free
// (follow_event_dependencies); if the free has already completed (allow_opportunistic); else by
// making the stream wait for the free (allow_internal_dependencies), which is tried before the pool
// grows.
#pragma once

#include <functional>

#include "device/block_heap.h"
#include "device/device.h"
#include "device/host/event_order.h"

namespace redzone::device {

class PoolMemory final : public OrderedMemory {
 public:
  // Makes later work on `stream` wait for `behind`.
  using InsertWait = std::function<void(int stream, const FreedAt& behind)>;

  // All arguments must outlive this object; regions of `segments` of 1 MiB and more must start at
  // multiples of 512.
  PoolMemory(Memory& segments, const EventOrder& events, InsertWait insert_wait)
      : segments_(segments), events_(events), insert_wait_(std::move(insert_wait)) {}

  // Returns all segments. Requires that nothing is in flight. (The release threshold affects only
  // cost, and segments are cached, so it has no effect here.)
  void begin(const PoolPolicy& policy);

  Status<Region> acquire(std::size_t bytes, int stream) override;
  Status<void> release(Region region, int stream) override;
  std::uint64_t mapping_calls() const override { return segments_.mapping_calls(); }

 private:
  bool may_use(int stream, const FreedAt& freed) const;

  Memory& segments_;
  const EventOrder& events_;
  InsertWait insert_wait_;
  PoolPolicy policy_;
  BlockHeap heap_;
};

}  // namespace redzone::device
