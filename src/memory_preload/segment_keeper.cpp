#include "memory_preload/segment_keeper.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"

namespace redzone::memory_preload {

device::Status<device::Region> SegmentKeeper::acquire(std::size_t bytes) {
  RZ_TRY_ASSIGN(const device::Region segment, memory_.acquire(bytes));
  segments_[segment.base] = {segment, segment.base};
  return segment;
}

void SegmentKeeper::release(device::Region segment) {
  const auto at = segments_.find(segment.base);
  RZ_CHECK(at != segments_.end() && !at->second.released);
  if (at->second.live > 0) {
    at->second.released = true;
    ++kept_;
    return;
  }
  segments_.erase(at);
  memory_.release(segment);
}

device::Region SegmentKeeper::add(device::Region block) {
  Segment& segment = segment_of(block)->second;
  ++segment.live;
  std::byte* const end = block.base + block.bytes;
  if (end <= segment.used_to) return {};
  const std::size_t used =
      segment.used_to > block.base ? static_cast<std::size_t>(segment.used_to - block.base) : 0;
  segment.used_to = end;
  return {block.base + used, block.bytes - used};
}

bool SegmentKeeper::remove(device::Region block) {
  const auto at = segment_of(block);
  Segment& segment = at->second;
  RZ_CHECK(segment.live > 0);
  --segment.live;
  if (!segment.released) return true;
  if (segment.live > 0) return false;
  const device::Region region = segment.region;
  segments_.erase(at);
  --kept_;
  memory_.release(region);
  return false;
}

SegmentKeeper::Segments::iterator SegmentKeeper::segment_of(const device::Region& block) {
  auto after = segments_.upper_bound(block.base);
  RZ_CHECK(after != segments_.begin());
  return std::prev(after);
}

}  // namespace redzone::memory_preload
