// The order between streams established by the host's calls: which operations of one stream have
// run before later work on another.
#pragma once

#include <array>
#include <cstdint>

#include "device/block_heap.h"
#include "device/host/stream_queue.h"

namespace redzone::device {

class EventOrder {
 public:
  explicit EventOrder(const StreamQueue& queue) : queue_(queue) {}

  // Resets the order for a new trial with empty streams.
  void clear();
  // Records that later work on `stream` comes after the first `ticket` operations of `on`, and
  // after all operations that precede those.
  void wait(int stream, int on, std::uint64_t ticket);
  // Records that the host has waited for all streams.
  void synchronized();

  // The end of the work enqueued on the stream so far.
  FreedAt now(int stream) const { return {stream, queue_.tickets(stream)}; }
  // Whether events or the host order later work on `stream` after `point`.
  bool orders(int stream, const FreedAt& point) const;
  // True if the host has waited for `point`.
  bool waited_for(const FreedAt& point) const;
  // True if `point` has been reached by now, with or without a wait.
  bool passed(const FreedAt& point) const { return queue_.done(point.stream) >= point.ticket; }

 private:
  static constexpr std::size_t kStreams = StreamQueue::kStreams;
  using Clock = std::array<std::uint64_t, kStreams>;  // number of operations of each stream

  const StreamQueue& queue_;
  std::array<Clock, kStreams> behind_ = {};  // for each stream: the operations that precede its
                                             // next one
  Clock waited_ = {};
};

}  // namespace redzone::device
