#include "device/host/pool_memory.h"

#include <algorithm>
#include <utility>

#include "core/round_up.h"

namespace redzone::device {
namespace {

constexpr std::size_t kSegmentBytes = std::size_t{32} << 20;
constexpr std::size_t kSegmentUnitBytes = std::size_t{2} << 20;
constexpr BlockHeap::Group kAll = 0;

}  // namespace

void PoolMemory::begin(const PoolPolicy& policy) {
  policy_ = policy;
  for (const Region& segment : heap_.clear()) segments_.release(segment);
}

bool PoolMemory::may_use(int stream, const FreedAt& freed) const {
  if (stream == freed.stream || events_.waited_for(freed)) return true;
  if (policy_.follow_event_dependencies && events_.orders(stream, freed)) return true;
  return policy_.allow_opportunistic && events_.passed(freed);
}

Status<Region> PoolMemory::acquire(std::size_t bytes, int stream) {
  bytes = round_up(std::clamp<std::size_t>(bytes, 1, kMostOrderedBytes), kOrderedUnitBytes);
  const auto ready = [&](const std::vector<FreedAt>& freed) {
    return std::all_of(freed.begin(), freed.end(),
                       [&](const FreedAt& f) { return may_use(stream, f); });
  };
  if (const Region found = heap_.take(kAll, bytes, kOrderedUnitBytes, ready); found.base != nullptr)
    return found;
  if (policy_.allow_internal_dependencies) {
    std::vector<FreedAt> freed;
    const Region found = heap_.take(kAll, bytes, kOrderedUnitBytes, {}, &freed);
    for (const FreedAt& f : freed)
      if (!may_use(stream, f)) insert_wait_(stream, f);
    if (found.base != nullptr) return found;
  }
  RZ_TRY_ASSIGN(auto segment,
                segments_.acquire(std::max(kSegmentBytes, round_up(bytes, kSegmentUnitBytes))));
  heap_.add(segment, kAll);
  return heap_.take(kAll, bytes, kOrderedUnitBytes, ready);
}

Status<void> PoolMemory::release(Region region, int stream) {
  heap_.give(region.base, kAll, {events_.now(stream)});
  return {};
}

}  // namespace redzone::device
