// Stops streams for a while (`--launch held`), so that what a program does not order is out of
// order more often. Before launches that are chosen from a seed, a host function is put into the
// stream, which returns once the program waits for the device, or after a few milliseconds. So no
// hold outlives its time, whatever the program and its threads do.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/driver.h"
#include "interpose/recorder.h"
#include "interpose/settings.h"

namespace redzone::interpose {

class StreamHolds {
 public:
  // All of them outlive this object, which outlives the work of all streams.
  StreamHolds(const Driver& driver, const Settings& settings, Recorder& recorder);
  StreamHolds(const StreamHolds&) = delete;
  StreamHolds& operator=(const StreamHolds&) = delete;

  // Before a launch in the stream, which does not capture. May put a hold into it.
  void before_launch(CuStream stream);
  // The program waits: the holds so far end.
  void release() { generation_.fetch_add(1, std::memory_order_relaxed); }

  // The driver calls host functions one after another, so holds of several streams add up.
  static constexpr int kMostHolds = 4;
  static constexpr std::uint64_t kOneIn = 4;  // launches
  static constexpr std::uint64_t kShortestUs = 100, kLongestUs = 3000;

 private:
  struct Hold;
  static void wait(void* hold);

  const Driver& driver_;
  const Settings& settings_;
  Recorder& recorder_;
  std::atomic<std::uint64_t> launches_{0}, generation_{0};
  std::atomic<int> holds_{0};  // in streams
};

}  // namespace redzone::interpose
