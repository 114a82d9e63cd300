#include "device/caching_memory.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/round_up.h"

namespace redzone::device {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kMostSmallBytes = kMiB;
constexpr std::size_t kSmallSegmentBytes = 2 * kMiB;
constexpr std::size_t kLargeSegmentBytes = 20 * kMiB;
constexpr std::size_t kLeastOwnSegmentBytes = 10 * kMiB;
constexpr std::size_t kOwnSegmentUnitBytes = 2 * kMiB;

std::size_t segment_bytes(std::size_t bytes) {
  if (bytes <= kMostSmallBytes) return kSmallSegmentBytes;
  return bytes < kLeastOwnSegmentBytes ? kLargeSegmentBytes : round_up(bytes, kOwnSegmentUnitBytes);
}

BlockHeap::Group group_of(std::size_t bytes, int stream) {
  return 2 * stream + (bytes <= kMostSmallBytes ? 0 : 1);
}

}  // namespace

Status<Region> CachingMemory::acquire(std::size_t bytes, int stream) {
  bytes = round_up(std::clamp<std::size_t>(bytes, 1, kMostOrderedBytes), kOrderedUnitBytes);
  const bool small = bytes <= kMostSmallBytes;
  const std::size_t least_rest = small ? kOrderedUnitBytes : kMostSmallBytes + kOrderedUnitBytes;
  const BlockHeap::Group group = group_of(bytes, stream);
  if (const Region found = heap_.take(group, bytes, least_rest); found.base != nullptr)
    return found;
  RZ_TRY_ASSIGN(auto segment, segments_.acquire(segment_bytes(bytes)));
  RZ_CHECK(reinterpret_cast<std::uintptr_t>(segment.base) % kOrderedUnitBytes == 0);
  heap_.add(segment, group);
  return heap_.take(group, bytes, least_rest);
}

Status<void> CachingMemory::release(Region region, int stream) {
  // The size determines the group: a large segment never has a block of at most 1 MiB.
  heap_.give(region.base, group_of(region.bytes, stream));
  return {};
}

void CachingMemory::reset() {
  for (const Region& segment : heap_.clear()) segments_.release(segment);
}

}  // namespace redzone::device
