// Blocks of memory segments: best fit, splitting, and merging of free neighbours.
//
// Bookkeeping only: no memory is accessed. The choice of a block depends only on the order of
// requests and segments, not on addresses, so the same requests get the same layout each time.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "device/device.h"

namespace redzone::device {

// Both allocators in stream order return multiples of this size.
inline constexpr std::size_t kOrderedUnitBytes = 512;
// Larger requests are treated as this size, which exceeds the memory of every device and can be
// rounded up without overflow.
inline constexpr std::size_t kMostOrderedBytes = std::size_t{1} << 62;

// The block was freed on `stream` after the first `ticket` operations enqueued there.
struct FreedAt {
  int stream = 0;
  std::uint64_t ticket = 0;
};

class BlockHeap {
 public:
  // Free blocks of one group merge and serve requests of this group only; groups never mix.
  using Group = int;
  using Accept = std::function<bool(const std::vector<FreedAt>& freed)>;

  // Adds a segment: one free block that was never used.
  void add(Region segment, Group group);
  // Takes the smallest free block of the group with at least `bytes` (> 0) that `accept` passes;
  // among several of that size, the first. The remainder stays free if it has at least `least_rest`
  // bytes. Returns a null base if no block fits. `freed`, if not null, receives the frees that the
  // region may still have to wait for.
  Region take(Group group, std::size_t bytes, std::size_t least_rest, const Accept& accept = {},
              std::vector<FreedAt>* freed = nullptr);
  // Frees the block that starts at `base` into `group`. The block must be live.
  void give(const std::byte* base, Group group, std::vector<FreedAt> freed = {});
  // Removes all blocks and returns the segments, the last one first.
  std::vector<Region> clear();

  std::size_t segments() const { return segments_.size(); }
  std::size_t free_blocks() const { return free_.size(); }

 private:
  struct Block {
    std::size_t bytes = 0;
    std::size_t segment = 0;
    Group group = 0;
    bool live = false;
    std::vector<FreedAt> freed;  // free blocks only, one entry per stream
  };
  using Blocks = std::map<const std::byte*, Block>;
  struct Key {
    Group group = 0;
    std::size_t bytes = 0;
    std::size_t segment = 0;
    const std::byte* base = nullptr;
    auto operator<=>(const Key&) const = default;
  };

  static Key key_of(Blocks::const_iterator at) {
    return {at->second.group, at->second.bytes, at->second.segment, at->first};
  }
  void split(Blocks::iterator at, std::size_t bytes);
  // Merges the block after `at` into `at` if both are free and in the same group and segment.
  void merge_next(Blocks::iterator at);

  std::vector<Region> segments_;
  Blocks blocks_;
  std::set<Key> free_;
};

}  // namespace redzone::device
