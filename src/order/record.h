// What a trial enqueues, with the buffers that each operation may use, and the pairs of operations
// whose order the program leaves open although both may use one buffer.
//
// What a kernel does with a pointer is unknown. A parameter word that points into a buffer,
// wherever it is in the parameters, counts as a use of that buffer: as a read of a buffer that is
// declared const, else as a possible write. So a pair is a candidate and no failure. Not seen:
// pointers that a kernel reads from memory, what a target enqueues on a stream's handle by itself,
// and the order of operations within one graph.
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

// Memory by the name of reports.
struct Buffer {
  std::string name;
  std::int32_t call = -1;
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  bool constant = false;  // kernels only read it
};

// Who enqueues, and on which stream of the device.
struct Place {
  std::int32_t call = -1;
  int stream = 0;
};

class Record {
 public:
  using Operation = HappensBefore::Operation;

  // `plan_streams`: the first of the device's streams, which the plan names; others are the
  // target's side streams.
  Record(std::size_t streams, int plan_streams) : order_(streams), plan_streams_(plan_streams) {}

  // Takes the place of buffers at the same addresses.
  void add(Buffer buffer);
  // Nothing may use the buffer from here on, in the order of the stream.
  Operation free(const void* begin, Place at);

  // The numbers of operations are the same in all trials of one plan. None in a capture: an
  // operation of a graph has that of its replay.
  std::optional<Operation> launch(std::string_view kernel, const LaunchArgs& args, Place at);
  std::optional<Operation> copy(const void* to, const void* from, std::size_t bytes, Place at);
  std::optional<Operation> memset(const void* to, std::size_t bytes, Place at);
  // A use of all these bytes by the harness.
  Operation use(OperationKind kind, std::span<const std::span<const std::byte>> ranges, bool writes,
                Place at);
  // The host may read and write the buffer from now on.
  Operation host_use(const void* begin, std::int32_t call);

  void wait(int stream, int on) { order_.wait(index(stream), order_.record(index(on))); }
  // Whether the program orders what is enqueued on `stream` from now on behind the operation. Not
  // of an operation that is still to come.
  bool before_later(Operation operation, int stream) const {
    return operation < order_.size() && order_.before_later(operation, index(stream));
  }
  void synchronize();
  // Until end_capture(), launches, copies and memsets become part of a graph. `kept`: replay() may
  // name it from now on, by numbers from 1; else the capture failed.
  void begin_capture() { capture_.emplace(); }
  void end_capture(bool kept);
  // Within a capture the graph becomes part of that one.
  std::optional<Operation> replay(int graph, Place at);

  const std::vector<OrderCandidate>& candidates() const { return candidates_; }

 private:
  struct Use {
    std::size_t buffer = 0;          // index
    std::size_t first = 0, end = 0;  // bytes of it
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
  // A use of one operation, for its buffer.
  struct Past {
    Operation operation = 0;
    Named by;
    Place at;
    Use use;
  };
  struct Known {
    Buffer buffer;
    std::vector<Past> past;  // since the host has waited for all streams
    std::optional<Past> freed;
  };
  struct Graph {
    std::vector<std::pair<Named, Use>> uses;
    Event last;  // two launches of one graph are ordered
  };

  static std::size_t index(int stream) { return static_cast<std::size_t>(stream); }
  // The buffer that holds the address, or ends there if it is empty.
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
  std::vector<std::size_t> used_;                     // indices of those with a past
  std::map<const std::byte*, std::size_t> by_begin_;  // indices
  std::optional<Graph> capture_;
  std::vector<Graph> graphs_;
  std::vector<OrderCandidate> candidates_;
  // By problem, buffer, and kinds and names of the two: the indices of the first pair, and of the
  // latest of another call, if there is one. What a call finds in the memory of earlier ones
  // decides whether an order matters.
  using Found = std::pair<OperationKind, std::string>;
  struct Kept {
    std::size_t first = 0;
    std::optional<std::size_t> latest = {};
  };
  std::map<std::tuple<OrderProblem, std::string, Found, Found>, Kept> kept_;
};

}  // namespace redzone::order
