// Operations that were enqueued on the streams and have not run yet. Storage is kept: enqueueing
// the same trial again allocates nothing.
#pragma once

#include <redzone/target.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "device/buffer_job.h"
#include "device/host/engine.h"
#include "device/host/order.h"
#include "device/host/stream_policy.h"

namespace redzone::device {

// Aligned as kernel parameters may require (a TensorMap).
struct alignas(64) ArgumentUnit {
  std::byte bytes[64];
};

struct Operation {
  enum class Kind : std::uint8_t { fill, check, launch, wait, graph, copy, memset, await, give };

  Kind kind = Kind::fill;
  std::int32_t call = -1;
  std::uint64_t order = 0;  // order of enqueueing, over all streams

  std::vector<BufferJob> jobs;     // fill, check
  BufferCheck* results = nullptr;  // check

  Grid grid;  // launch; `grid.args` points into `pointers`
  bool dependent = false;
  std::array<char, 96> kernel_name = {};
  std::vector<ArgumentUnit> arguments;
  std::vector<void*> pointers;

  int on = 0;  // wait: for the first `ticket` operations ever enqueued on `on`
  std::uint64_t ticket = 0;

  int graph = -1;         // graph: its index
  std::vector<bool> ran;  // graph: which of its nodes have run
  std::size_t left = 0;   // graph: nodes that have not run

  int signal = 0;  // await, give

  void* to = nullptr;          // copy, memset
  const void* from = nullptr;  // copy
  std::uint8_t value = 0;      // memset
  std::size_t bytes = 0;

  void copy_arguments(const LaunchArgs& args);
};

class StreamQueue {
 public:
  static constexpr int kStreams = kDeviceStreams;

  // Empties the queue, and draws the order of later operations from `rng`.
  void clear(Rng& rng);
  bool empty() const { return queued_ == 0; }

  // Adds an operation at the end of `stream`; its vectors still have the contents of an earlier
  // use.
  Operation& push(int stream);
  // Number of operations enqueued on `stream` since clear().
  std::uint64_t tickets(int stream) const {
    return streams_[stream].done + streams_[stream].size();
  }
  // Number of these operations that have run.
  std::uint64_t done(int stream) const { return streams_[stream].done; }

  void give(int signal) { given_[static_cast<std::size_t>(signal)] = true; }
  // False if every operation waits for a signal.
  bool may_advance() const;

  // The stream whose first operation runs next: that of the oldest runnable operation, or the
  // policy's choice. A wait is runnable once the operations that it waits for have run. Requires
  // may_advance().
  int choose(Rng& rng);
  // The operations of `stream` that have not run, the next one first.
  std::span<Operation> queued(int stream) {
    Stream& s = streams_[stream];
    return {s.operations.data() + s.begin, s.size()};
  }
  void pop(int stream);

 private:
  struct Stream {
    std::vector<Operation> operations;  // [begin, end) are queued
    std::size_t begin = 0, end = 0;
    std::uint64_t done = 0;

    std::size_t size() const { return end - begin; }
    Operation& first() { return operations[begin]; }
  };

  bool may_run(const Operation& operation) const;

  std::array<Stream, kStreams> streams_;
  std::array<bool, kOrderSignals> given_ = {};
  std::size_t queued_ = 0;
  std::uint64_t enqueued_ = 0;
  StreamPolicy policy_;
};

}  // namespace redzone::device
