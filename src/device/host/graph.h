// Graphs of the host device: what a stream capture recorded, and the capture itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/host/stream_queue.h"

namespace redzone::device {

// Operations with their dependencies, for repeated runs. Immutable once captured, except for its
// last launch.
struct HostGraph {
  struct Node {
    Operation operation;               // launch, copy, memset; graph: launched during the capture
    std::vector<std::uint32_t> after;  // indices of earlier nodes
  };
  std::vector<Node> nodes;
  // The last launch of the graph, for which the next launch waits.
  int stream = -1;
  std::uint64_t ticket = 0;
};

// One capture. A stream joins it when it waits for a captured stream.
class GraphCapture {
 public:
  bool active() const { return origin_ >= 0; }
  int origin() const { return origin_; }
  bool captures(int stream) const {
    return active() && streams_[static_cast<std::size_t>(stream)].captured;
  }

  void begin(int stream);
  void abandon() { origin_ = -1; }

  // Adds a node to a captured stream. The reference is valid until the next node is added.
  Operation& record(int stream);
  // A wait in which at least one stream is captured.
  Status<void> wait(int stream, int on);
  // Returns the graph, or an error: a stream that was not joined, or an earlier error. Ends the
  // capture in any case.
  Status<HostGraph> end();

 private:
  struct Stream {
    bool captured = false;
    bool joined = false;               // another stream waited for it, and no work followed
    std::vector<std::uint32_t> tails;  // nodes that precede its next node
  };

  Stream& at(int stream) { return streams_[static_cast<std::size_t>(stream)]; }

  int origin_ = -1;
  std::array<Stream, kDeviceStreams> streams_ = {};
  HostGraph graph_;
  std::optional<Failure> broken_;
};

}  // namespace redzone::device
