// Blocks of memory segments: best fit, splitting, and merging of free neighbours.
//
// Only bookkeeping: it touches no memory. Which block is chosen depends on the order of requests
// and segments alone, not on addresses, so that the same requests are laid out the same way each
// time.
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

// The free happened on `stream` behind the first `ticket` operations enqueued there.
struct FreedAt {
  int stream = 0;
  std::uint64_t ticket = 0;
};

class BlockHeap {
 public:
  // Free blocks of one group merge and serve one another's requests; those of two never meet.
  using Group = int;
  using Accept = std::function<bool(const std::vector<FreedAt>& freed)>;

  // A new segment: one free block, which was never used.
  void add(Region segment, Group group);
  // Takes the smallest free block of the group with `bytes` that `accept` lets pass; of several of
  // that size the first. What is left of it stays free when it has `least_rest` bytes. A null base:
  // none fits. `bytes` > 0. `freed`, where wanted, gets the frees that the region may still follow.
  Region take(Group group, std::size_t bytes, std::size_t least_rest, const Accept& accept = {},
              std::vector<FreedAt>* freed = nullptr);
  // The block that starts there is free, and of this group, from now on. It must be live.
  void give(const std::byte* base, Group group, std::vector<FreedAt> freed = {});
  // Forgets all blocks and hands out the segments, the last one first.
  std::vector<Region> clear();

  std::size_t segments() const { return segments_.size(); }
  std::size_t free_blocks() const { return free_.size(); }

 private:
  struct Block {
    std::size_t bytes = 0;
    std::size_t segment = 0;
    Group group = 0;
    bool live = false;
    std::vector<FreedAt> freed;  // of a free block, one entry a stream
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
  // Appends the block behind `at` to it where both are free and of one group and segment.
  void merge_next(Blocks::iterator at);

  std::vector<Region> segments_;
  Blocks blocks_;
  std::set<Key> free_;
};

}  // namespace redzone::device
