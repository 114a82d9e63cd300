// The device during one trial: enqueues, holds the gate, and knows how the trial ended.
//
// Every call of a device can fail, and the failure can be that of a kernel enqueued long before. So
// all enqueueing goes through here: it remembers what was enqueued since the last synchronization,
// names the culprit where only one is possible, and touches a lost device no more.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device_traits.h"
#include "core/trial.h"
#include "device/device.h"
#include "trial/progress_marks.h"

namespace redzone::trial {

class Session {
 public:
  // Both outlive the session; `box` may be null.
  Session(device::Device& device, device::BlackBox* box)
      : device_(device), traits_(traits_of(device.info().kind)), box_(box) {}

  void begin(const Mode& mode, int streams);

  // The first end of a trial stands; only a lost device overrules it.
  void stop(End end, std::string message);
  // A fault of this call (-1: unknown).
  void stop_fault(std::string code, std::int32_t call, std::string kernel, std::string detail);
  void stop(const device::Failure& failure);
  bool stopped() const { return end_ != End::completed; }
  bool lost() const { return lost_; }
  void report(Observation& to) const;

  // The call that enqueues from now on; -1: the harness. Enqueues the progress marks of the calls
  // before it.
  void set_call(std::int32_t call);
  std::int32_t call() const { return call_; }

  // These stop the trial where the device fails; true where it did not.
  bool fill(int stream, std::span<const device::BufferJob> jobs);
  // `results` must live until the next synchronize().
  bool check(int stream, std::span<const device::BufferJob> jobs, device::BufferCheck* results);
  bool launch(int stream, const KernelRef& kernel, const LaunchShape& shape,
              const LaunchArgs& args);
  // The target may enqueue on the stream by itself.
  void give_out(int stream) {
    note_launch(stream, "");
    given_out_ = true;
  }
  // Behind a run of a call: where launches are waited for, so is what the target enqueued itself.
  bool settle();
  bool copy(int stream, void* to, const void* from, std::size_t bytes);
  std::optional<device::Region> acquire(device::OrderedMemory& memory, std::size_t bytes,
                                        int stream);
  bool release(device::OrderedMemory& memory, device::Region region, int stream);
  bool wait(int stream, int on);
  // Until end_capture() what is enqueued on `stream`, and on streams that wait for it, is recorded,
  // as device::Device says. Not while capturing().
  bool begin_capture(int stream);
  // The graph, for replay(); 0 when the trial has stopped. To be called on every path. What cannot
  // be captured ends the trial as unsupported, also when the target has failed of it meanwhile.
  // `join`: streams that take part in the capture are joined first.
  int end_capture(bool join);
  bool capturing() const { return capture_.has_value(); }
  bool is_graph(int graph) const {
    return graph >= 1 && static_cast<std::size_t>(graph) <= graphs_.size();
  }
  bool replay(int stream, int graph);
  // The first `streams` of them: wait for `on`, are waited for by `on`.
  bool fork_from(int on, int streams);
  bool join_to(int on, int streams);
  bool synchronize();
  bool read(void* to, const void* from, std::size_t bytes);
  // Gated mode: what is enqueued from hold() to open() runs only after it, or as soon as the device
  // can hold no more. Nothing in the other modes.
  bool hold();
  bool open();

  device::Device& device() { return device_; }
  int streams() const { return streams_; }

 private:
  bool accept(const device::Status<void>& status);
  // Makes room for that many device operations on a held stream.
  bool reserve(std::size_t operations);
  void note_launch(int stream, const char* kernel);
  void mark_progress();
  // Which call it was, from what is pending.
  void blame(Fault& fault) const;
  // Ends the trial with the fault, whatever ended it before, and names the culprit if it can.
  void lose(const device::Failure& failure);

  device::Device& device_;
  const DeviceTraits& traits_;
  device::BlackBox* box_;
  Mode mode_;
  int streams_ = 1;
  std::int32_t call_ = -1;

  bool given_out_ = false;  // a stream, in this trial: the target may keep it

  bool held_ = false;
  std::size_t held_operations_ = 0;

  // Launches, and what they have in common.
  struct Launched {
    bool any = false;
    std::int32_t call = -1;  // -1: none or several
    std::string kernel;      // "": none or several

    void add(std::int32_t of_call, std::string_view of_kernel);
  };
  Launched pending_;  // since the last synchronization
  ProgressMarks marks_;

  struct Graph {
    int device_graph = -1;
    std::size_t operations = 0;
    Launched launched;
  };
  struct Capture {
    int stream = 0;
    std::uint32_t streams = 0;  // bit set of those that take part
    bool launch_refused = false;
    Graph graph;
  };
  std::optional<Capture> capture_;
  std::vector<Graph> graphs_;

  End end_ = End::completed;
  std::string message_;
  std::optional<Fault> fault_;
  bool lost_ = false;
};

}  // namespace redzone::trial
