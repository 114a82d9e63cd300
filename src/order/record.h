// Records the operations that a trial enqueues, with the buffers that each may use, and the pairs
// of operations that may use one buffer without a defined order.
//
// The accesses of a kernel through a pointer are unknown. A parameter word that points into a
// buffer, wherever it is in the parameters, counts as a use of that buffer: as a read if the buffer
// is declared const, else as a possible write. So a pair is a candidate, not a failure. Not
// detected: pointers that a kernel reads from memory, operations that a target enqueues itself on a
// stream's handle, and the order of operations within one graph.
#pragma once

#include <redzone/target.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/trial.h"
#include "order/happens_before.h"

namespace redzone::order {

// A block of memory under its name in reports.
struct Buffer {
  std::string name;
  std::int32_t call = -1;
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  bool constant = false;  // kernels only read it
};

// The call that enqueues an operation, and the stream of the device.
struct Place {
  std::int32_t call = -1;
  int stream = 0;
};

class Record {
 public:
  using Operation = HappensBefore::Operation;

  // `plan_streams`: number of streams that the plan names, which are the device's first; the others
  // are the target's side streams.
  Record(std::size_t streams, int plan_streams) : order_(streams), plan_streams_(plan_streams) {}

  // Replaces buffers at the same addresses.
  void add(Buffer buffer);
  // Frees the buffer in stream order: no later operation may use it.
  Operation free(const void* begin, Place at);

  // Operations have the same numbers in all trials of one plan. Empty during a capture: an
  // operation of a graph has the number of the graph's replay.
  std::optional<Operation> launch(std::string_view kernel, const LaunchArgs& args, Place at);
  std::optional<Operation> copy(const void* to, const void* from, std::size_t bytes, Place at);
  std::optional<Operation> memset(const void* to, std::size_t bytes, Place at);
  // A use of all bytes of `ranges` by the harness.
  Operation use(OperationKind kind, std::span<const std::span<const std::byte>> ranges, bool writes,
                Place at);
  // The host may read and write the buffer from now on.
  Operation host_use(const void* begin, std::int32_t call);

  void wait(int stream, int on) { order_.wait(index(stream), order_.record(index(on))); }
  // Whether the program orders everything enqueued on `stream` from now on after the operation.
  // False for an operation that is not yet enqueued.
  bool before_later(Operation operation, int stream) const {
    return operation < order_.size() && order_.before_later(operation, index(stream));
  }
  void synchronize();
  // Until end_capture(), launches, copies and memsets become part of a graph. `kept`: the graph
  // gets the next number, from 1, for replay(); if false, the capture failed.
  void begin_capture() { capture_.emplace(); }
  void end_capture(bool kept);
  // Within a capture, the replayed graph becomes part of the captured one.
  std::optional<Operation> replay(int graph, Place at);

  const std::vector<OrderCandidate>& candidates() const { return candidates_; }

 private:
  struct Use {
    std::size_t buffer = 0;          // index into buffers_
    std::size_t first = 0, end = 0;  // the range of bytes in the buffer
    bool writes = false;
  };
  struct Named {
    OperationKind kind = OperationKind::kernel;
    std::string name;
    std::int32_t call = -1;
  };
  static Named named(OperationKind kind, std::int32_t call) {
    return {kind, std::string(name_of(kind)), call};
  }
  // A use of a buffer by one operation.
  struct Past {
    Operation operation = 0;
    Named by;
    Place at;
    Use use;
  };
  struct Known {
    Buffer buffer;
    std::vector<Past> past;  // since the host last waited for all streams
    std::optional<Past> freed;
  };
  struct Graph {
    std::vector<std::pair<Named, Use>> uses;
    Event last;  // the last launch; launches of one graph are ordered
  };

  static std::size_t index(int stream) { return static_cast<std::size_t>(stream); }
  // The buffer that contains the address, or an empty buffer at the address.
  std::optional<std::size_t> find(const std::byte* at) const;
  std::vector<Use> uses_of(const LaunchArgs& args) const;
  void add_use(const std::byte* at, std::size_t bytes, bool writes, std::vector<Use>& out) const;
  std::optional<Operation> enqueue(const Named& by, const std::vector<Use>& uses, Place at);
  void note(Past now);
  void suspect(OrderProblem problem, const Known& known, const Past& first, const Past& second);
  OrderedOperation shown(const Past& past) const;

  HappensBefore order_;
  int plan_streams_;
  std::vector<Known> buffers_;
  std::vector<std::size_t> used_;                     // indices of buffers whose `past` is not
                                                      // empty
  std::map<const std::byte*, std::size_t> by_begin_;  // indices into buffers_
  std::optional<Graph> capture_;
  std::vector<Graph> graphs_;
  std::vector<OrderCandidate> candidates_;
  // The indices of the first candidate and of the latest one of another call, if any, by problem,
  // buffer, and kinds and names of both operations. The latest is kept, too, because contents that
  // earlier calls left in memory decide whether an order matters.
  using Found = std::pair<OperationKind, std::string>;
  struct Kept {
    std::size_t first = 0;
    std::optional<std::size_t> latest = {};
  };
  std::map<std::tuple<OrderProblem, std::string, Found, Found>, Kept> kept_;
};

}  // namespace redzone::order
