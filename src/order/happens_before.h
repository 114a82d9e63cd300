// The order that a program guarantees between the operations that it enqueues, whatever the device
// does: by streams, events and what the host waits for. A plain value; runs nothing.
//
// Vector clocks. The host is one more line of operations beside the streams: it comes after what it
// has waited for, and whatever is enqueued comes after all that the host did before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redzone::order {

// How many operations of each line come before a point.
using Clock = std::vector<std::uint32_t>;

// A point of a stream, as of a recorded event.
struct Event {
  Clock clock;  // empty: never recorded, so a wait for it orders nothing
};

class HappensBefore {
 public:
  // Operations are numbered from 0 in the order of these calls.
  using Operation = std::uint32_t;

  explicit HappensBefore(std::size_t streams);

  Operation enqueue(std::size_t stream);
  // What the host does by itself, at once.
  Operation on_host();

  Event record(std::size_t stream) const { return {now_[stream]}; }
  // Later operations of `stream` come after the event.
  void wait(std::size_t stream, const Event& event);
  // The host waits for all that is enqueued on one stream, or on all.
  void synchronize(std::size_t stream);
  void synchronize();

  // Whether every run of the program ends `a` before it begins `b`. Never of an operation and
  // itself.
  bool before(Operation a, Operation b) const;
  // Whether every run ends `a` before it begins what is enqueued on `stream` from now on.
  bool before_later(Operation a, std::size_t stream) const;
  std::size_t size() const { return lines_.size(); }

 private:
  std::size_t host() const { return now_.size() - 1; }
  Operation add(std::size_t line);
  std::uint32_t clock_of(Operation operation, std::size_t line) const {
    return clocks_[operation * now_.size() + line];
  }

  std::vector<Clock> now_;             // of each line: what its next operation comes after
  std::vector<std::uint8_t> lines_;    // of each operation
  std::vector<std::uint32_t> clocks_;  // of each operation, itself included, one behind the other
};

}  // namespace redzone::order
