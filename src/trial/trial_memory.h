// The regions of one trial.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trial/session.h"

namespace redzone::trial {

// With an allocator in stream order (pool, caching) regions go back to it as soon as their owner is
// done with them, but for those asked for during a capture: a graph uses them on any stream, which
// nothing orders behind their last owner, so they come from plain memory and are nobody else's
// until the trial ends (PyTorch has private pools for the same reason). With the others, regions
// that a finished segment gives up stay here until the trial ends, and serve the next segment: it
// runs behind the first in stream order, and device::Memory must get nothing back that work in
// flight still uses.
class TrialMemory {
 public:
  explicit TrialMemory(Session& session) : session_(session) {}
  TrialMemory(const TrialMemory&) = delete;
  TrialMemory& operator=(const TrialMemory&) = delete;

  // `most_bytes`: beyond it regions that wait for reuse are given back before new ones are taken.
  void begin(Allocator allocator, std::size_t most_bytes);
  // Regions come from an allocator in stream order.
  bool ordered() const { return ordered_ != nullptr; }
  // For what follows on `stream`. Stops the session and returns nothing when there is no memory.
  std::optional<device::Region> acquire(std::size_t bytes, int stream = 0);
  // Until the trial ends; with an allocator in stream order, memory that nobody had before.
  std::optional<device::Region> acquire_lasting(std::size_t bytes);
  // Page-locked memory of the host, until the trial ends.
  std::optional<device::Region> acquire_host(std::size_t bytes);
  // `bytes` rounded up as acquire() does.
  std::size_t rounded(std::size_t bytes) const;
  // ordered(): what follows on `stream` may use the region; else, or if a graph has it, nothing.
  void give_back(const device::Region& region, int stream);
  // The regions acquired since the last retire(), but for those of keep(), may be reused.
  void retire();
  // Until the trial ends, or it is given back.
  void keep(const device::Region& region);
  // The device is idle, or lost: then all is abandoned.
  void end();

  std::uint64_t peak_bytes() const { return peak_bytes_; }
  // That the device has made for trials with this allocator.
  std::uint64_t mapping_calls(Allocator allocator) const;

 private:
  struct Held {
    device::Region region;
    std::size_t bytes = 0;  // asked for
  };

  bool release_retired();
  void hold(const device::Region& region, std::size_t bytes);
  std::optional<device::Region> acquire_apart(std::size_t bytes);
  bool is_apart(const device::Region& region) const;

  Session& session_;
  device::Memory* memory_ = nullptr;          // one of the two
  device::OrderedMemory* ordered_ = nullptr;  // is set
  std::vector<Held> live_, retired_, kept_;
  std::vector<device::Region> apart_;  // of Allocator::plain
  std::vector<device::Region> host_;
  std::size_t most_bytes_ = 0;
  std::size_t held_bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace redzone::trial
