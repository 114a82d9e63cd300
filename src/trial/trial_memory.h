// The regions of one trial.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "trial/session.h"

namespace redzone::trial {

// With an allocator in stream order (pool, caching) a region is returned as soon as its owner no
// longer needs it, except for regions requested during a capture: a graph may use them on any
// stream, without order relative to their last owner. Therefore they come from plain memory and are
// not shared until the trial ends (PyTorch has private pools for the same reason).
//
// With other allocators, regions of a finished segment are kept until the trial ends and are reused
// by the next segment, which runs after the finished one in stream order. They are not returned to
// device::Memory, which must not receive regions that work in flight still uses.
class TrialMemory {
 public:
  // Purpose of a region: the number of a tensor in the spec, or kOtherUse.
  static constexpr int kOtherUse = -1;

  explicit TrialMemory(Session& session) : session_(session) {}
  TrialMemory(const TrialMemory&) = delete;
  TrialMemory& operator=(const TrialMemory&) = delete;

  // `most_bytes`: if exceeded, regions that wait for reuse are released before new ones are
  // acquired.
  void begin(Allocator allocator, std::size_t most_bytes);
  // Whether regions come from an allocator in stream order.
  bool ordered() const { return ordered_ != nullptr; }
  // Memory for later work on `stream`. Stops the session and returns nullopt if memory is
  // exhausted. Prefers to reuse a region with the same `use`, so that the same tensor of equal
  // calls keeps its address.
  std::optional<device::Region> acquire(std::size_t bytes, int stream = 0, int use = kOtherUse);
  // Memory until the trial ends; with an allocator in stream order, plain memory that is not
  // reused.
  std::optional<device::Region> acquire_lasting(std::size_t bytes);
  // Pinned memory of the host, until the trial ends.
  std::optional<device::Region> acquire_host(std::size_t bytes);
  // `bytes`, rounded up as in acquire().
  std::size_t rounded(std::size_t bytes) const;
  // If ordered(): later work on `stream` may use the region. No effect otherwise, or if a graph
  // uses the region.
  void give_back(const device::Region& region, int stream);
  // Lets later segments reuse the regions acquired since the last retire(), except those of keep().
  void retire();
  // Keeps the region until the trial ends, or until it is given back.
  void keep(const device::Region& region);
  // The source of the memory of acquire_lasting().
  device::Memory& lasting() const;
  // Transfers a region of acquire_lasting() to the caller, who must release it to lasting() of this
  // trial.
  void give_up(const device::Region& region);
  // Requires an idle or a lost device; if the device is lost, all regions are abandoned.
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
  device::Memory* memory_ = nullptr;          // exactly one of memory_
  device::OrderedMemory* ordered_ = nullptr;  // and ordered_ is set
  std::vector<Held> live_, kept_;
  std::map<std::size_t, std::deque<Held>> retired_;  // by size, the earliest first
  std::vector<device::Region> apart_;                // from Allocator::plain
  std::vector<device::Region> host_;
  std::size_t most_bytes_ = 0;
  std::size_t held_bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace redzone::trial
