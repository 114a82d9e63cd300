// The regions of one trial.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "trial/session.h"

namespace redzone::trial {

// With an allocator in stream order (pool, caching) a region is returned as soon as its owner is
// done with it. Exception: regions requested during a capture. A graph uses these on any stream,
// without order to their last owner, so they come from plain memory and are not shared until the
// trial ends (PyTorch has private pools for the same reason).
//
// With other allocators, regions of a finished segment stay here until the trial ends and serve the
// next segment: it runs after the first in stream order, and device::Memory must not receive
// regions that work in flight still uses.
class TrialMemory {
 public:
  // What regions are for: the number of a tensor in the spec, or this.
  static constexpr int kOtherUse = -1;

  explicit TrialMemory(Session& session) : session_(session) {}
  TrialMemory(const TrialMemory&) = delete;
  TrialMemory& operator=(const TrialMemory&) = delete;

  // `most_bytes`: above it, regions that wait for reuse are released before new ones are acquired.
  void begin(Allocator allocator, std::size_t most_bytes);
  // Whether regions come from an allocator in stream order.
  bool ordered() const { return ordered_ != nullptr; }
  // For later work on `stream`. Stops the session and returns nothing if memory is exhausted. What
  // is used again is, if possible, a region of the same use, so that the same tensor of equal calls
  // lies where it was.
  std::optional<device::Region> acquire(std::size_t bytes, int stream = 0, int use = kOtherUse);
  // Until the trial ends; with an allocator in stream order, memory that was not used before.
  std::optional<device::Region> acquire_lasting(std::size_t bytes);
  // Pinned memory of the host, until the trial ends.
  std::optional<device::Region> acquire_host(std::size_t bytes);
  // `bytes` rounded up as acquire() does.
  std::size_t rounded(std::size_t bytes) const;
  // ordered(): later work on `stream` may use the region; otherwise, or if a graph uses it, no
  // effect.
  void give_back(const device::Region& region, int stream);
  // The regions acquired since the last retire(), except those of keep(), may be reused.
  void retire();
  // Keeps the region until the trial ends, or until it is given back.
  void keep(const device::Region& region);
  // Where acquire_lasting() takes its memory from.
  device::Memory& lasting() const;
  // The region of acquire_lasting() belongs to the caller from now on, who releases it to lasting()
  // of this trial.
  void give_up(const device::Region& region);
  // Requires an idle or a lost device; with a lost one everything is abandoned.
  void end();

  std::uint64_t peak_bytes() const { return peak_bytes_; }
  // Mapping calls that the device has made for trials with this allocator.
  std::uint64_t mapping_calls(Allocator allocator) const;

 private:
  struct Held {
    device::Region region;
    std::size_t bytes = 0;  // requested
    int use = kOtherUse;
  };

  bool release_retired();
  void hold(const device::Region& region, std::size_t bytes, int use);
  std::optional<Held> take_retired(std::size_t bytes, int use);
  std::optional<device::Region> acquire_apart(std::size_t bytes);
  bool is_apart(const device::Region& region) const;

  Session& session_;
  device::Memory* memory_ = nullptr;          // exactly one of the two
  device::OrderedMemory* ordered_ = nullptr;  // is set
  std::vector<Held> live_, kept_;
  std::map<std::size_t, std::deque<Held>> retired_;  // by size, the earliest first
  std::vector<device::Region> apart_;                // of Allocator::plain
  std::vector<device::Region> host_;
  std::size_t most_bytes_ = 0;
  std::size_t held_bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace redzone::trial
