#include "device/block_heap.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/error.h"

namespace redzone::device {

void BlockHeap::add(Region segment, Group group) {
  const auto [at, added] = blocks_.try_emplace(segment.base);
  RZ_CHECK(added);
  at->second.bytes = segment.bytes;
  at->second.segment = segments_.size();
  at->second.group = group;
  segments_.push_back(segment);
  free_.insert(key_of(at));
}

Region BlockHeap::take(Group group, std::size_t bytes, std::size_t least_rest, const Accept& accept,
                       std::vector<FreedAt>* freed) {
  for (auto it = free_.lower_bound({group, bytes, 0, nullptr});
       it != free_.end() && it->group == group; ++it) {
    const auto at = blocks_.find(it->base);
    if (accept && !accept(at->second.freed)) continue;
    free_.erase(it);
    if (at->second.bytes - bytes >= least_rest) split(at, bytes);
    Block& block = at->second;
    block.live = true;
    if (freed != nullptr) *freed = block.freed;
    block.freed.clear();
    const Region& segment = segments_[block.segment];
    return {segment.base + (at->first - segment.base), block.bytes};
  }
  return {};
}

void BlockHeap::split(Blocks::iterator at, std::size_t bytes) {
  const auto rest = blocks_.emplace(at->first + bytes, at->second).first;
  rest->second.bytes -= bytes;
  free_.insert(key_of(rest));
  at->second.bytes = bytes;
}

void BlockHeap::give(const std::byte* base, Group group, std::vector<FreedAt> freed) {
  const auto at = blocks_.find(base);
  RZ_CHECK(at != blocks_.end() && at->second.live);
  Block& block = at->second;
  block.live = false;
  block.group = group;
  block.freed = std::move(freed);
  free_.insert(key_of(at));
  merge_next(at);
  if (at != blocks_.begin()) merge_next(std::prev(at));
}

void BlockHeap::merge_next(Blocks::iterator at) {
  const auto next = std::next(at);
  if (next == blocks_.end()) return;
  Block &a = at->second, &b = next->second;
  if (a.live || b.live || a.group != b.group || a.segment != b.segment) return;
  free_.erase(key_of(at));
  free_.erase(key_of(next));
  a.bytes += b.bytes;
  for (const FreedAt& freed : b.freed) {
    const auto same = std::find_if(a.freed.begin(), a.freed.end(),
                                   [&](const FreedAt& f) { return f.stream == freed.stream; });
    if (same == a.freed.end())
      a.freed.push_back(freed);
    else
      same->ticket = std::max(same->ticket, freed.ticket);
  }
  blocks_.erase(next);
  free_.insert(key_of(at));
}

std::vector<Region> BlockHeap::clear() {
  blocks_.clear();
  free_.clear();
  std::vector<Region> segments = std::exchange(segments_, {});
  std::reverse(segments.begin(), segments.end());
  return segments;
}

}  // namespace redzone::device
