// What the host's calls say of the order between streams: which operations of one stream are known
// to have run before what is enqueued next on another.
#pragma once

#include <array>
#include <cstdint>

#include "device/block_heap.h"
#include "device/host/stream_queue.h"

namespace redzone::device {

class EventOrder {
 public:
  explicit EventOrder(const StreamQueue& queue) : queue_(queue) {}

  // Forgets everything: a new trial, with empty streams.
  void clear();
  // What is enqueued next on `stream` comes after the first `ticket` operations of `on`, and after
  // what those came after.
  void wait(int stream, int on, std::uint64_t ticket);
  // The host has waited for all streams.
  void synchronized();

  // The end of what is enqueued on the stream.
  FreedAt now(int stream) const { return {stream, queue_.tickets(stream)}; }
  // By events or the host: what is enqueued next on `stream` comes after `point`.
  bool orders(int stream, const FreedAt& point) const;
  // The host has waited for `point`.
  bool waited_for(const FreedAt& point) const;
  // By now, whoever asked for it or not.
  bool passed(const FreedAt& point) const { return queue_.done(point.stream) >= point.ticket; }

 private:
  static constexpr std::size_t kStreams = StreamQueue::kStreams;
  using Clock = std::array<std::uint64_t, kStreams>;  // operations of each stream

  const StreamQueue& queue_;
  std::array<Clock, kStreams> behind_ = {};  // what the next operation of each stream comes after
  Clock waited_ = {};
};

}  // namespace redzone::device
