#include "trial/session.h"

#include <algorithm>
#include <utility>

#include "core/target_text.h"

namespace redzone::trial {
namespace {

// Maximum number of device operations of one function of the device, counted as in hold_capacity():
// a fill uploads its table, a check also clears and returns its results, a wait records an event.
constexpr std::size_t kFillOperations = 2;
constexpr std::size_t kCheckOperations = 4;
constexpr std::size_t kWaitOperations = 2;
constexpr std::size_t kAcquireOperations = 3;  // a pool may make the stream wait for another stream

}  // namespace

void Session::begin(const TrialSpec& trial, int streams, int plan_streams, bool markers) {
  const Mode& mode = mode_ = trial.mode;
  marking_ = markers;
  ++trials_;
  streams_ = streams;
  call_ = -1;
  held_ = worked_ = given_out_ = false;
  pending_ = {};
  markers_.begin();
  capture_.reset();
  graphs_.clear();
  end_ = End::completed;
  message_.clear();
  fault_.reset();
  order_.begin(trial, streams, plan_streams);
  accept(device_.begin_trial({mode.launch, mode.schedule_seed, streams, mode.pool, mode.poison}));
}

void Session::stop(End end, std::string message) {
  if (stopped()) return;
  end_ = end;
  message_ = std::move(message);
}

void Session::stop_fault(std::string code, std::int32_t call, std::string kernel,
                         std::string detail) {
  if (stopped()) return;
  end_ = End::fault;
  fault_.emplace();
  fault_->code = std::move(code);
  fault_->call = call;
  fault_->kernel = std::move(kernel);
  fault_->detail = std::move(detail);
}

void Session::stop(const device::Failure& failure) {
  using Kind = device::Failure::Kind;
  const std::string text =
      failure.code.empty() ? failure.detail : failure.code + ": " + failure.detail;
  switch (failure.kind) {
    case Kind::fault:
      return lose(failure);
    case Kind::launch_refused:
      return stop_fault(failure.code, call_, {}, failure.detail);
    case Kind::out_of_memory:
      return stop(End::out_of_memory, text);
    case Kind::unsupported:
      return stop(End::unsupported, text);
    case Kind::harness:
      return stop(End::worker_error, text);
  }
}

void Session::report(Observation& to) const {
  to.end = end_;
  to.message = target_text(message_);
  to.fault = fault_;
  if (!to.fault) return;
  to.fault->code = target_text(to.fault->code, kMostTargetCodeBytes);
  to.fault->detail = target_text(to.fault->detail);
}

void Session::set_call(std::int32_t call) {
  call_ = call;
  if (call >= 0 && marking_) mark_progress();
  if (!lost_) device_.set_call(call);
}

bool Session::accept(const device::Status<void>& status) {
  if (!status) stop(status.error());
  return status.has_value();
}

bool Session::reserve(std::size_t operations) {
  if (lost_) return false;
  if (capture_) {
    capture_->graph.operations += operations;
    return true;
  }
  if (!held_) return true;
  operations += order_.added_waits() * kWaitOperations;
  if (held_operations_ + operations > device_.hold_capacity() && !(open() && hold())) return false;
  held_operations_ += operations;
  return true;
}

bool Session::fill(int stream, std::span<const device::BufferJob> jobs, Ordered operation) {
  if (jobs.empty()) return !lost_;
  return reserve(kFillOperations) &&
         accept(order_.enqueue(operation, stream, [&] { return device_.fill(stream, jobs); }));
}

bool Session::fill_on(void* stream, std::span<const device::BufferJob> jobs) {
  if (lost_) return false;
  for (int s = 0; s < streams_; ++s)
    if (device_.stream_handle(s) == stream) return fill(s, jobs);
  return accept(device_.fill_foreign(stream, jobs));
}

bool Session::check(int stream, std::span<const device::BufferJob> jobs,
                    device::BufferCheck* results, Ordered operation) {
  if (jobs.empty()) return !lost_;
  return reserve(kCheckOperations) && accept(order_.enqueue(operation, stream, [&] {
           return device_.check(stream, jobs, results);
         }));
}

bool Session::note_free(int stream, const void* begin, Ordered& operation) {
  if (record() == nullptr || capture_) return true;
  operation = record()->free(begin, place(stream));
  return !order_.frees(*operation);
}

bool Session::give_to_host(const void* begin) {
  if (record() == nullptr) return !lost_;
  return !order_.host_uses(record()->host_use(begin, call_)) || capture_ || synchronize();
}

bool Session::launch(int stream, const KernelRef& kernel, const LaunchShape& shape,
                     const LaunchArgs& args) {
  if (!reserve(1)) return false;
  Ordered operation;
  if (record() != nullptr) operation = record()->launch(kernel.name, args, place(stream));
  const auto status = order_.enqueue(operation, stream,
                                     [&] { return device_.launch(stream, kernel, shape, args); });
  if (!status && status.error().kind == device::Failure::Kind::launch_refused) {
    if (capture_) capture_->launch_refused = true;
    stop_fault(status.error().code, call_, kernel.name, status.error().detail);
    return false;
  }
  if (!accept(status)) return false;
  note_launch(stream, kernel.name);
  if (capture_) return true;
  return mode_.launch != Launch::blocking || synchronize();
}

bool Session::settle() {
  order_.host_call_ended();
  if (!given_out_ || capture_ || lost_) return !lost_;
  return mode_.launch != Launch::blocking || synchronize();
}

bool Session::copy(int stream, void* to, const void* from, std::size_t bytes) {
  if (!reserve(1)) return false;
  Ordered operation;
  if (record() != nullptr) operation = record()->copy(to, from, bytes, place(stream));
  return enqueued(stream, OperationKind::copy, order_.enqueue(operation, stream, [&] {
    return device_.copy(stream, to, from, bytes);
  }));
}

bool Session::memset(int stream, void* to, std::uint8_t value, std::size_t bytes) {
  if (!reserve(1)) return false;
  Ordered operation;
  if (record() != nullptr) operation = record()->memset(to, bytes, place(stream));
  return enqueued(stream, OperationKind::memset, order_.enqueue(operation, stream, [&] {
    return device_.memset(stream, to, value, bytes);
  }));
}

bool Session::enqueued(int stream, OperationKind kind, const device::Status<void>& status) {
  if (!accept(status)) return false;
  note_launch(stream, name_of(kind));
  if (capture_) return true;
  return mode_.launch != Launch::blocking || synchronize();
}

bool Session::fetch(int stream, void* to, const void* from, std::size_t bytes) {
  return reserve(1) && accept(device_.copy(stream, to, from, bytes));
}

std::optional<device::Region> Session::acquire(device::OrderedMemory& memory, std::size_t bytes,
                                               int stream) {
  if (!reserve(kAcquireOperations)) return std::nullopt;
  const auto region = memory.acquire(bytes, stream);
  if (region) return *region;
  stop(region.error());
  return std::nullopt;
}

bool Session::release(device::OrderedMemory& memory, device::Region region, int stream) {
  return reserve(1) && accept(memory.release(region, stream));
}

bool Session::wait(int stream, int on) {
  if (stream == on) return !lost_;
  if (!reserve(kWaitOperations) || !accept(device_.wait(stream, on))) return false;
  const bool captured = capture_ && (capture_->streams >> on & 1) != 0;
  if (record() != nullptr && !captured) record()->wait(stream, on);
  if (captured) capture_->streams |= 1u << stream;
  return true;
}

bool Session::begin_capture(int stream) {
  RZ_CHECK(!capture_);
  if (stopped() || !accept(device_.begin_capture(stream))) return false;
  capture_ =
      Capture{.stream = stream, .streams = 1u << stream, .launch_refused = false, .graph = {}};
  if (record() != nullptr) record()->begin_capture();
  return true;
}

int Session::end_capture(bool join) {
  const int graph = finish_capture(join);
  if (record() != nullptr) record()->end_capture(graph != 0);
  return graph;
}

int Session::finish_capture(bool join) {
  RZ_CHECK(capture_);
  if (lost_) {
    capture_.reset();
    return 0;
  }
  if (join)
    for (int s = 0; s < streams_; ++s)
      if ((capture_->streams >> s & 1) != 0 && !stopped()) wait(capture_->stream, s);
  Capture capture = *std::exchange(capture_, std::nullopt);
  const auto graph = device_.end_capture(capture.stream);
  if (!graph) {
    using Kind = device::Failure::Kind;
    if (graph.error().kind == Kind::unsupported && end_ == End::fault && !capture.launch_refused) {
      end_ = End::completed;
      fault_.reset();
    }
    stop(graph.error());
    return 0;
  }
  if (stopped()) return 0;
  capture.graph.device_graph = *graph;
  graphs_.push_back(std::move(capture.graph));
  return static_cast<int>(graphs_.size());
}

bool Session::replay(int stream, int graph) {
  RZ_CHECK(is_graph(graph));
  const Graph& replayed = graphs_[static_cast<std::size_t>(graph) - 1];
  if (!reserve(std::max<std::size_t>(replayed.operations, 1))) return false;
  Ordered operation;
  if (record() != nullptr) operation = record()->replay(graph, place(stream));
  if (!accept(order_.enqueue(operation, stream,
                             [&] { return device_.launch_graph(stream, replayed.device_graph); })))
    return false;
  const Launched& body = replayed.launched;
  if (body.any && capture_) capture_->graph.launched.add(body.call, body.kernel);
  if (body.any && !capture_) {
    pending_.add(body.call, body.kernel);
    markers_.add(stream, body.call, body.kernel);
  }
  return capture_ || mode_.launch != Launch::blocking || synchronize();
}

bool Session::fork_from(int on, int streams) {
  for (int s = 0; s < streams; ++s)
    if (!wait(s, on)) return false;
  return true;
}

bool Session::join_to(int on, int streams) {
  for (int s = 0; s < streams; ++s)
    if (!wait(on, s)) return false;
  return true;
}

bool Session::synchronize() {
  RZ_CHECK(!capture_);
  if (lost_) return false;
  held_ = false;
  order_.synchronizes();
  if (!accept(device_.synchronize())) return false;
  if (record() != nullptr) record()->synchronize();
  pending_ = {};
  markers_.clear();
  return true;
}

bool Session::read(void* to, const void* from, std::size_t bytes) {
  return !lost_ && accept(device_.read(to, from, bytes));
}

bool Session::hold() {
  if (lost_) return false;
  if (mode_.launch != Launch::gated || held_ || capture_) return true;
  held_ = true;
  held_operations_ = 0;
  return accept(device_.hold());
}

bool Session::open() {
  if (lost_) return false;
  if (!held_) return true;
  held_ = false;
  return accept(device_.open());
}

// Enqueues no progress markers on a device whose faults name their call, or during a capture,
// because each replay would write the marker again.
void Session::mark_progress() {
  if (traits_.execution.fault_names_call || capture_) return;
  for (const auto& marker : markers_.due(call_))
    if (stopped() || !reserve(1) || !accept(device_.mark(marker.stream, marker.number))) return;
}

void Session::note_launch(int stream, std::string_view kernel) {
  worked_ = true;
  if (capture_) return capture_->graph.launched.add(call_, kernel);
  pending_.add(call_, kernel);
  markers_.add(stream, call_, kernel);
}

void Session::Launched::add(std::int32_t of_call, std::string_view of_kernel) {
  if (!any) {
    any = true;
    call = of_call;
    kernel = of_kernel;
    return;
  }
  if (call != of_call) call = -1;
  if (kernel != of_kernel) kernel.clear();
}

void Session::lose(const device::Failure& failure) {
  lost_ = true;
  std::string detail = failure.detail;
  // The recorded end may be a consequence of this fault.
  if (fault_) detail += "; before it: " + fault_->code + ": " + fault_->detail;
  end_ = End::completed;
  message_.clear();
  stop_fault(failure.code, -1, {}, std::move(detail));
  attribute(*fault_);
  if (failure.bytes_behind_shared == 0) return;
  // Reported like a write into the guard page behind the buffer: how far a write misses depends on
  // the sizes.
  fault_->buffer = kSharedBuffer;
  fault_->side = Side::after;
  fault_->access = Access::write;
  fault_->distance_bytes = failure.bytes_behind_shared;
}

void Session::attribute(Fault& fault) const {
  // Such a device runs one kernel at a time and reports which one.
  if (traits_.execution.fault_names_call && box_ != nullptr && box_->call_running >= 0) {
    fault.call = box_->call_running;
    fault.kernel = box_->kernel;
    fault.known_by = std::string(traits_.name) + " device";
    return;
  }
  if (!pending_.any) return;
  fault.call = pending_.call;
  fault.kernel = pending_.kernel;
  if (fault.call >= 0) {
    fault.known_by = mode_.launch == Launch::blocking ? "blocking launches" : "only call in flight";
    return;
  }
  if (traits_.execution.fault_names_call) return;
  auto unfinished = markers_.attribute([this](int stream) { return device_.reached(stream); });
  if (unfinished.call < 0) return;
  fault.call = unfinished.call;
  if (fault.kernel.empty()) fault.kernel = std::move(unfinished.kernel);
  if (!unfinished.note.empty()) fault.detail += "; " + unfinished.note;
  fault.known_by = "progress markers";
}

}  // namespace redzone::trial
