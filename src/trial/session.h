// The device during one trial: enqueues work, blocks and releases launches, and records how the
// trial ended.
//
// Every call of the device can fail because of a kernel enqueued long before. Therefore all
// enqueueing goes through this class: it records what was enqueued since the last synchronization,
// attributes a fault if only one call is possible or if progress markers identify the call, and
// never uses a lost device again.
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
#include "trial/order_watch.h"
#include "trial/progress_markers.h"

namespace redzone::trial {

class Session {
 public:
  // Both must outlive the session; `box` may be null.
  Session(device::Device& device, device::BlackBox* box)
      : device_(device), traits_(traits_of(device.info().kind)), box_(box), order_(device) {}

  // `streams`: number of device streams, of which the plan names the first `plan_streams`.
  // `markers`: whether calls are separated by progress markers, which attribute a late fault.
  void begin(const TrialSpec& trial, int streams, int plan_streams, bool markers);
  // Trials that have begun, the current one included.
  std::uint64_t trials() const { return trials_; }

  // The first end of a trial counts, except that a lost device and end_capture() override it.
  void stop(End end, std::string message);
  // Ends the trial with a fault of the call `call` (-1: unknown).
  void stop_fault(std::string code, std::int32_t call, std::string kernel, std::string detail);
  void stop(const device::Failure& failure);
  bool stopped() const { return end_ != End::completed; }
  // True if a call was refused, by the target or for lack of memory, which ended the trial while
  // the device stayed usable: work enqueued before that call still completes.
  bool gave_up() const { return end_ == End::unsupported || end_ == End::out_of_memory; }
  bool lost() const { return lost_; }
  void report(Observation& to) const;

  // Whether the target has enqueued work in this trial, or may have because it has a stream handle.
  bool worked() const { return worked_; }

  // Sets the call that enqueues from now on; -1: the harness. Enqueues the progress markers of
  // earlier calls.
  void set_call(std::int32_t call);
  std::int32_t call() const { return call_; }

  // The record of what the trial enqueues; null unless the trial requests it.
  order::Record* record() { return order_.record(); }
  order::Place place(int stream) const { return {call_, stream}; }
  // Requires an idle or a lost device.
  std::optional<OrderObservation> order() { return order_.end(lost_); }

  using Ordered = std::optional<OrderWatch::Operation>;
  // These functions return false if the device fails, after stopping the trial. `operation`: the
  // number of the operation in the record, if recorded.
  bool fill(int stream, std::span<const device::BufferJob> jobs, Ordered operation = {});
  // Fills in the order of any stream of the process, given by its handle.
  bool fill_on(void* stream, std::span<const device::BufferJob> jobs);
  // `results` must live until the next synchronize().
  bool check(int stream, std::span<const device::BufferJob> jobs, device::BufferCheck* results,
             Ordered operation = {});
  bool launch(int stream, const KernelRef& kernel, const LaunchShape& shape,
              const LaunchArgs& args);
  // The target has the stream's handle and may enqueue on its own.
  void give_out(int stream) {
    note_launch(stream, "");
    given_out_ = true;
  }
  // Call after a run of a call: waits for the target's own work in blocking mode.
  bool settle();
  bool copy(int stream, void* to, const void* from, std::size_t bytes);
  bool memset(int stream, void* to, std::uint8_t value, std::size_t bytes);
  // Records that the target frees the allocation at `begin` in the order of the stream. False if
  // the freed memory must keep its bytes.
  bool note_free(int stream, const void* begin, Ordered& operation);
  // Call before the host may use the pinned memory at `begin`, until its call ends.
  bool give_to_host(const void* begin);
  // A copy for the harness: it is attributed to no call, and blocking mode does not wait for it.
  bool fetch(int stream, void* to, const void* from, std::size_t bytes);
  std::optional<device::Region> acquire(device::OrderedMemory& memory, std::size_t bytes,
                                        int stream);
  bool release(device::OrderedMemory& memory, device::Region region, int stream);
  bool wait(int stream, int on);
  // Until end_capture(), work enqueued on `stream`, and on streams that wait for it, is recorded
  // into a graph (see device::Device). Must not be called while capturing().
  bool begin_capture(int stream);
  // Returns the graph for replay(); 0 if the trial has stopped. Call it on every path. Work that
  // cannot be captured ends the trial as unsupported, even if the target has already failed as a
  // consequence. `join`: first joins the streams that take part in the capture.
  int end_capture(bool join);
  bool capturing() const { return capture_.has_value(); }
  bool is_graph(int graph) const {
    return graph >= 1 && static_cast<std::size_t>(graph) <= graphs_.size();
  }
  bool replay(int stream, int graph);
  // fork_from: streams 0 .. `streams` - 1 wait for `on`. join_to: `on` waits for these streams.
  bool fork_from(int on, int streams);
  bool join_to(int on, int streams);
  bool synchronize();
  bool read(void* to, const void* from, std::size_t bytes);
  // In gated mode: work enqueued between hold() and open() runs only after open(), or once the
  // device's queue is full. No effect in other modes.
  bool hold();
  bool open();

  device::Device& device() { return device_; }
  int streams() const { return streams_; }

 private:
  bool accept(const device::Status<void>& status);
  int finish_capture(bool join);
  // Makes room for `operations` device operations if launches are held.
  bool reserve(std::size_t operations);
  // Call after a copy or memset was enqueued or refused.
  bool enqueued(int stream, OperationKind kind, const device::Status<void>& status);
  void note_launch(int stream, std::string_view kernel);
  void mark_progress();
  // Sets call and kernel of the fault from the pending work.
  void attribute(Fault& fault) const;
  // Ends the trial with the fault, overriding an earlier end, and attributes it if possible.
  void lose(const device::Failure& failure);

  device::Device& device_;
  const DeviceTraits& traits_;
  device::BlackBox* box_;
  OrderWatch order_;
  Mode mode_;
  int streams_ = 1;
  std::int32_t call_ = -1;

  bool worked_ = false;
  bool given_out_ = false;  // the target got a stream handle in this trial, and may keep it

  bool held_ = false;
  std::size_t held_operations_ = 0;

  // Pending launches: their call and kernel, if all launches have the same.
  struct Launched {
    bool any = false;
    std::int32_t call = -1;  // -1: none or several
    std::string kernel;      // "": none or several

    void add(std::int32_t of_call, std::string_view of_kernel);
  };
  Launched pending_;  // since the last synchronization
  bool marking_ = true;
  std::uint64_t trials_ = 0;
  ProgressMarkers markers_;

  struct Graph {
    int device_graph = -1;
    std::size_t operations = 0;
    Launched launched;
  };
  struct Capture {
    int stream = 0;
    std::uint32_t streams = 0;  // bit set of participating streams
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
