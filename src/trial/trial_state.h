// Shared state of the runner's parts during one trial.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trial/caller_thread.h"
#include "trial/encode.h"
#include "trial/sanitizer_watch.h"
#include "trial/schedule.h"
#include "trial/session.h"
#include "trial/tensor_buffer.h"
#include "trial/trial_memory.h"

namespace redzone::trial {

// Scratch, a workspace, an allocation, or pinned host memory.
struct RawBuffer {
  std::string name;   // as given by the target
  std::string label;  // name, or name#2 and so on if a call repeats the name
  std::size_t bytes = 0;
  std::size_t align = 1;
  std::int64_t run = 0;    // scratch: the last run of the call that used it
  std::int32_t call = -1;  // the (first) call that requested it
  device::Region region;
  Place at;
  device::BufferJob job;   // fills the buffer
  bool growing = false;    // an allocation that is a growing workspace
  bool in_graph = false;   // a growing workspace that a capture has used
  bool freed = false;      // an allocation that the target has freed
  bool watched = false;    // freed, and `job` describes what the bytes must contain from then on
  bool captured = false;   // allocated in a capture
  bool temporary = false;  // allocated and freed in one capture: filled again before each replay
};

// One call with its buffers, which all item->runs runs use.
struct CallUnit {
  const RunItem* item = nullptr;
  bool waits = false;                 // captured, and not replayed yet
  std::vector<TensorBuffer> tensors;  // in the order of the spec
  std::vector<RawBuffer> scratch;
};

// The streams of the device during a trial: those of the plan, then the side streams of the target,
// then one for fills if there are side streams. In that case only the target determines which
// stream uses its scratch first, and a fill on one of these streams would order that stream
// relative to the others.
struct StreamUse {
  int plan = 1;
  int side = 0;
  bool concurrent_calls = false;  // TargetSpec::concurrent_calls

  int all() const { return plan + side + (side > 0 ? 1 : 0); }
  int side_stream(int index) const { return plan + index - 1; }  // 1 .. side
  int fills(int stream_of_call) const { return side > 0 ? plan + side : stream_of_call; }
};

struct TrialState {
  TrialState(device::Device& device, device::BlackBox* black_box)
      : session(device, black_box), memory(session), caller(device), box(black_box) {}

  void begin(const TrialSpec& trial, const StreamUse& streams, std::int32_t calls,
             std::size_t most_bytes);
  void set_phase(device::Phase phase) {
    if (box != nullptr) box->phase = phase;
  }
  void show_progress() {
    if (box != nullptr) ++box->progress;
  }

  // Allocates and places one buffer for later work on `stream`. Stops the session and returns
  // nullopt if memory is exhausted.
  std::optional<Place> acquire(Storage storage, device::Region& region, int stream);
  // Like acquire(), for a buffer that lives until the trial ends.
  std::optional<Place> acquire_lasting(Storage storage, device::Region& region);
  // Storage::margin_bytes of every buffer of this trial.
  std::size_t margin_bytes() const { return margin_bytes_; }
  // Freed memory can be watched only if it is guarded and not reused.
  bool watches_freed() const { return checks && mode.allocator == Allocator::guard; }
  // Registers the name of the addresses in `at`, for reports and for the order of the trial, from
  // the next launch on. No effect without checks or a tool. `constant`: kernels only read the
  // memory.
  void watch(const std::string& name, std::int32_t call, const Place& at, std::size_t bytes,
             bool constant = false);
  // Passes added names to the device. Cheap if there are none.
  void flush_watch();
  // Call before code of an immediate target runs: inputs are filled and reports have all names when
  // it returns. False if the session has stopped.
  bool make_ready();
  // Number of registered names.
  std::size_t names() const { return watched_.size(); }
  // Forgets all names except those of buffers that live for the whole trial.
  void forget_watched();
  // Requires an idle device. Reads the tool's output, which is attributed to `call` (-1: unknown).
  void drain_sanitizer(std::int32_t call);

  // Fills a buffer that outlives the call, before any stream can use the buffer. During a capture
  // the fill is deferred to the end of the capture, and is not repeated before replays.
  bool fill_once(const device::BufferJob& job, int stream);
  // Call after each capture.
  bool flush_fills(int stream);

  // Calls `visit` for each of the buffers that live for the whole trial.
  template <class Visit>
  void for_each_lasting(Visit visit) const {
    for (const auto* buffers : {&workspaces, &allocations, &host_buffers})
      for (const auto& buffer : *buffers) visit(buffer);
  }

  CallObservation& of_call(std::int32_t call) { return calls[static_cast<std::size_t>(call)]; }

  Session session;
  TrialMemory memory;
  CallerThread caller;
  device::BlackBox* box;                // may be null
  SanitizerWatch* sanitizer = nullptr;  // null if the worker runs under no tool
  Mode mode;
  StreamUse streams;
  bool checks = true;                 // see TrialRunner::run()
  bool records = true;                // whether launches and requests are recorded
  bool markers = true;                // whether progress markers separate calls
  bool immediate = false;             // TargetEntry::immediate
  std::deque<RawBuffer> workspaces;   // live for the whole trial
  std::deque<RawBuffer> allocations;  // including freed ones
  // growing workspaces among `allocations`, by name
  std::map<std::string, RawBuffer*, std::less<>> growing;
  std::deque<RawBuffer> host_buffers;
  std::vector<CallObservation> calls;  // by call index
  RefusedEncodes refused;
  // Fills of scratch and allocations of the call that is being enqueued, deferred until its next
  // launch.
  struct Fills {
    std::vector<device::BufferJob> jobs;
    std::vector<int> streams;  // for each job, the stream that the memory was allocated for

    void add(int stream, const device::BufferJob& job) {
      jobs.push_back(job);
      streams.push_back(stream);
    }
    void clear() {
      jobs.clear();
      streams.clear();
    }
  };
  Fills scratch_fills;
  // The target has a stream handle and may keep it in a static. Its own work there is invisible to
  // the harness, so fills are no longer deferred.
  bool stream_is_out = false;
  // Scratch of the segment's finished calls, to be overwritten by the next fill on its stream.
  struct Spent {
    int stream = 0;
    RawBuffer* scratch = nullptr;
  };
  std::vector<Spent> spent;

 private:
  device::NamedRange named(const std::string& name, std::int32_t call, const Place& at,
                           std::size_t bytes) const;

  std::size_t margin_bytes_ = 0;
  std::vector<device::BufferJob> fills_;  // fills of buffers first requested in a capture
  std::vector<std::int32_t> positions_;   // position of each call in the order of execution; empty:
                                          // calls run as numbered
  std::vector<device::NamedRange> watched_;
  std::size_t told_ = 0;  // number of leading names that the device already has
  bool retell_ = false;   // the device has names that must be removed
};

}  // namespace redzone::trial
