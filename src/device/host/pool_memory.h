// The stream-ordered pool of the host device: cuMemAllocAsync's semantics, as cuda.h documents its
// CU_MEMPOOL_ATTR_REUSE_* attributes.
//
// Memory that was freed on a stream serves that stream at once. Another stream gets it when the
// host has waited for the free; when events order it behind the free (follow_event_dependencies);
// when the free has been passed (allow_opportunistic); else by being made to wait for it
// (allow_internal_dependencies), which is tried before the pool grows.
#pragma once

#include <functional>

#include "device/block_heap.h"
#include "device/device.h"
#include "device/host/event_order.h"

namespace redzone::device {

class PoolMemory final : public OrderedMemory {
 public:
  // Makes what follows on `stream` wait for that point.
  using InsertWait = std::function<void(int stream, const FreedAt& behind)>;

  // Both outlive this; regions of `segments` of 1 MiB and more start at multiples of 512.
  PoolMemory(Memory& segments, const EventOrder& events, InsertWait insert_wait)
      : segments_(segments), events_(events), insert_wait_(std::move(insert_wait)) {}

  // Gives all segments back. Only with nothing in flight. (The release threshold is a matter of
  // cost alone, and segments are cached: it changes nothing here.)
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
