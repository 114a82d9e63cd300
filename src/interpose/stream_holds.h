// Delays streams (`--launch held`), so that work which the program does not order runs out of order
// more often. Before launches chosen by a seed, a host function is enqueued in the stream. It
// returns once the program waits for the device, or after a few milliseconds, so no hold outlives
// its time, regardless of what the program and its threads do.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/driver.h"
#include "interpose/recorder.h"
#include "interpose/settings.h"

namespace redzone::interpose {

class StreamHolds {
 public:
  // All arguments must outlive this object, which must outlive the work of all streams.
  StreamHolds(const Driver& driver, const Settings& settings, Recorder& recorder);
  StreamHolds(const StreamHolds&) = delete;
  StreamHolds& operator=(const StreamHolds&) = delete;

  // Call before a launch in a stream that does not capture. May enqueue a hold.
  void before_launch(CuStream stream);
  // Call when the program waits: ends all current holds.
  void release() { generation_.fetch_add(1, std::memory_order_relaxed); }

  // The driver calls host functions one after another, so the holds of several streams add up.
  static constexpr int kMostHolds = 4;
  static constexpr std::uint64_t kOneIn = 4;  // one launch in this many is held
  static constexpr std::uint64_t kShortestUs = 100, kLongestUs = 3000;

 private:
  struct Hold;
  static void wait(void* hold);

  const Driver& driver_;
  const Settings& settings_;
  Recorder& recorder_;
  std::atomic<std::uint64_t> launches_{0}, generation_{0};
  std::atomic<int> holds_{0};  // number of holds in streams
};

}  // namespace redzone::interpose
