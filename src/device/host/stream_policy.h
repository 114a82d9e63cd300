// Selects which of several streams runs next: the part of the host scheduler that finds missing
// edges.
//
// A uniform choice at each step rarely lets a long queue end before a short one begins. Therefore
// each trial draws one of several policies, each of which finds bugs of one kind:
//   by age       the oldest operation first, as if there were one stream
//   priority     one stream runs until it waits, then the next: whole queues before others
//   changing     like priority, but at random steps the running stream falls behind all others
//                (after Burckhardt and others, "A randomized scheduler with probabilistic
//                guarantees of finding bugs", ASPLOS 2010)
//   round robin  one operation of each stream in turn
//   uniform      any stream at each step
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "device/device.h"
#include "device/host/order.h"

namespace redzone::device {

class StreamPolicy {
 public:
  StreamPolicy() = default;
  // by_age for a natural Rng; otherwise random.
  explicit StreamPolicy(Rng& rng);

  bool by_age() const { return kind_ == Kind::by_age; }
  // Returns one of `ready` (stream indices, ascending, at least two). Must not be called if
  // by_age().
  int choose(std::span<const int> ready, Rng& rng);

 private:
  enum class Kind : std::uint8_t { by_age, priority, changing, round_robin, uniform };

  int first_by_rank(std::span<const int> ready) const;

  Kind kind_ = Kind::by_age;
  std::array<std::uint64_t, kDeviceStreams> rank_ = {};  // smaller runs first
  std::uint64_t last_rank_ = 0;
  std::uint64_t change_every_ = 1;  // mean number of steps
  int turn_ = -1;
};

}  // namespace redzone::device
