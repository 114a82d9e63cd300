// The order that a program guarantees between the operations that it enqueues, on any device: by
// streams, events and waits of the host. A plain value; runs nothing.
//
// Implemented by vector clocks. A line is a sequence of operations: each stream is one, and so is
// the host. An operation on the host comes after everything that the host has waited for, and an
// enqueued operation comes after all earlier operations of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redzone::order {

// The number of operations of each line that come before a point.
using Clock = std::vector<std::uint32_t>;

// A point in a stream, such as a recorded event.
struct Event {
  Clock clock;  // empty: never recorded, so a wait for it orders nothing
};

class HappensBefore {
 public:
  // Operations are numbered from 0 in the order of these calls.
  using Operation = std::uint32_t;

  explicit HappensBefore(std::size_t streams);

  Operation enqueue(std::size_t stream);
  // Adds an operation that the host itself performs immediately.
  Operation on_host();

  Event record(std::size_t stream) const { return {now_[stream]}; }
  // Later operations of `stream` come after the event.
  void wait(std::size_t stream, const Event& event);
  // The host waits for everything enqueued on one stream, or on all streams.
  void synchronize(std::size_t stream);
  void synchronize();

  // Whether every run of the program ends `a` before it begins `b`. False if they are the same
  // operation.
  bool before(Operation a, Operation b) const;
  // Whether every run ends `a` before it begins any operation enqueued on `stream` from now on.
  bool before_later(Operation a, std::size_t stream) const;
  std::size_t size() const { return lines_.size(); }

 private:
  std::size_t host() const { return now_.size() - 1; }
  Operation add(std::size_t line);
  std::uint32_t clock_of(Operation operation, std::size_t line) const {
    return clocks_[operation * now_.size() + line];
  }

  std::vector<Clock> now_;             // for each line: the operations before its next one
  std::vector<std::uint8_t> lines_;    // the line of each operation
  std::vector<std::uint32_t> clocks_;  // the clock of each operation, including itself,
                                       // concatenated
};

}  // namespace redzone::order
