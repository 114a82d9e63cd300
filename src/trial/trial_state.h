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

// Scratch, a workspace, an allocation, or pinned memory of the host.
struct RawBuffer {
  std::string name;   // as given by the target
  std::string label;  // the same, or name#2 and so on within a call
  std::size_t bytes = 0;
  std::size_t align = 1;
  std::int64_t run = 0;    // scratch: the last run of the call that used it
  std::int32_t call = -1;  // the (first) call that requested it
  device::Region region;
  Place at;
  device::BufferJob job;   // fills it
  bool growing = false;    // an allocation that is a growing workspace
  bool in_graph = false;   // a growing workspace that a capture has used
  bool freed = false;      // an allocation that the target has freed
  bool watched = false;    // freed, and `job` describes what the bytes must contain from then on
  bool captured = false;   // allocated in a capture
  bool temporary = false;  // allocated and freed in one capture: filled again before each replay
};

// One call with its buffers; runs item->runs times on them.
struct CallUnit {
  const RunItem* item = nullptr;
  bool waits = false;                 // captured, and not replayed yet
  std::vector<TensorBuffer> tensors;  // in the order of the spec
  std::vector<RawBuffer> scratch;
};

// The streams of the device during a trial: those of the plan, the side streams of the target, and
// after them one for fills. With side streams only the target knows which stream uses its scratch
// first, and a fill on one of them would order it against the others.
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

  // Memory for one buffer in its place, for later work on `stream`. Stops the session and returns
  // nothing if memory is exhausted.
  std::optional<Place> acquire(Storage storage, device::Region& region, int stream);
  // The same for a buffer that lives until the trial ends.
  std::optional<Place> acquire_lasting(Storage storage, device::Region& region);
  // Storage::margin_bytes of every buffer of this trial.
  std::size_t margin_bytes() const { return margin_bytes_; }
  // Freed memory can be watched only if it is guarded and not reused.
  bool watches_freed() const { return checks && mode.allocator == Allocator::guard; }
  // Names the addresses in `at` from the next launch on, for reports and for the order of the
  // trial; no effect without checks. `constant`: kernels only read them.
  void watch(const std::string& name, std::int32_t call, const Place& at, std::size_t bytes,
             bool constant = false);
  // Passes added names to the device. Cheap if there are none.
  void flush_watch();
  // Before code of an immediate target runs: inputs are there, and reports know the buffers. False
  // if the session has stopped.
  bool make_ready();
  // Names that are in use.
  std::size_t names() const { return watched_.size(); }
  // Keeps the names of what lives for the whole trial alone.
  void forget_watched();
  // Requires an idle device: reads compute-sanitizer's output, which belongs to `call` (-1:
  // unknown).
  void drain_sanitizer(std::int32_t call);

  // Fills a buffer that outlives the call before any stream can use it; during a capture the fill
  // is deferred to its end, and not repeated before replays.
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
  bool checks = true;                                      // see TrialRunner::run()
  bool records = true;                                     // records launches and requests
  bool marks = true;                                       // separates calls by progress markers
  bool immediate = false;                                  // TargetEntry::immediate
  std::deque<RawBuffer> workspaces;                        // live for the whole trial
  std::deque<RawBuffer> allocations;                       // including freed ones
  std::map<std::string, RawBuffer*, std::less<>> growing;  // among them, by name
  std::deque<RawBuffer> host_buffers;
  std::vector<CallObservation> calls;  // by call index
  RefusedEncodes refused;
  // Scratch and allocations of the call that is being enqueued, to be filled before its next
  // launch.
  struct Fills {
    std::vector<device::BufferJob> jobs;
    std::vector<int> streams;  // of each job: the stream that the memory was allocated for

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
  // The target has a stream's handle and may keep it in a static. Its own work there is invisible,
  // so nothing is deferred from then on.
  bool stream_is_out = false;
  // Scratch of the segment's finished calls, to be overwritten with the next fill on its stream.
  struct Spent {
    int stream = 0;
    RawBuffer* scratch = nullptr;
  };
  std::vector<Spent> spent;

 private:
  device::NamedRange named(const std::string& name, std::int32_t call, const Place& at,
                           std::size_t bytes) const;

  std::size_t margin_bytes_ = 0;
  std::vector<device::BufferJob> fills_;  // of buffers first requested in a capture
  std::vector<std::int32_t> positions_;   // of each call as it runs; empty: calls run as numbered
  std::vector<device::NamedRange> watched_;
  std::size_t told_ = 0;  // names, from the front, that the device already has
  bool retell_ = false;   // the device has names that it must forget
};

}  // namespace redzone::trial
