#include "trial/call_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>

namespace redzone::trial {
namespace {

// A larger size exceeds the address space of every device: it is negative, or was computed with too
// few bits. A smaller size may still exceed the memory of this device.
constexpr std::size_t kMostRawBytes = std::size_t{1} << 47;

LaunchObservation launch_observation(const KernelRef& kernel, const LaunchShape& shape) {
  return {.kernel = kernel.name,
          .grid = {shape.grid.x, shape.grid.y, shape.grid.z},
          .block = {shape.block.x, shape.block.y, shape.block.z},
          .shared_bytes = static_cast<std::int64_t>(shape.shared_bytes)};
}

}  // namespace

TensorArg CallContext::tensor(std::string_view name) const {
  for (const auto& t : unit_.tensors)
    if (t.spec->name == name) return argument(t);
  throw SpecError(fmt::format("no tensor '{}'", name));
}

std::span<std::byte> CallContext::storage(std::string_view name) const {
  for (const auto& t : unit_.tensors)
    if (t.spec->name == name) return {t.at.storage, t.storage.bytes};
  throw SpecError(fmt::format("no tensor '{}'", name));
}

void CallContext::watch_memory(const std::string& name, const void* at, std::size_t bytes) {
  auto* begin = static_cast<std::byte*>(const_cast<void*>(at));
  state_.watch(name, call(), {begin, begin}, bytes);
  state_.flush_watch();
}

CallContext::~CallContext() {
  if (capturing_) state_.session.end_capture(false);
}

void CallContext::finish() {
  if (capturing_ && !ended())
    fail(std::string(kTargetErrorCode), "run() returned inside of its capture");
  fill_scratch();
  state_.session.settle();
  give_back_scratch();
}

void* CallContext::stream_handle(int device_stream) const {
  if (state_.session.lost()) return nullptr;
  state_.stream_is_out = true;
  fill_scratch();
  state_.session.give_out(device_stream);
  return state_.session.device().stream_handle(device_stream);
}

std::optional<int> CallContext::device_stream(int index) const {
  if (index == 0) return unit_.item->stream;
  if (index > 0 && index <= state_.streams.side) return state_.streams.side_stream(index);
  state_.session.stop_fault("unknown-stream", call(), {},
                            fmt::format("stream {} of a call; the spec declares {} side streams",
                                        index, state_.streams.side));
  return std::nullopt;
}

void* CallContext::stream(int index) const {
  const auto stream = device_stream(index);
  return stream ? stream_handle(*stream) : nullptr;
}

void CallContext::wait(int stream, int on) {
  if (ended()) return;
  const auto waiting = device_stream(stream);
  const auto source = device_stream(on);
  if (!waiting || !source) return;
  // Deferred fills of `on` come before the wait.
  if (state_.memory.ordered() && !fill_scratch()) return;
  state_.session.wait(*waiting, *source);
}

bool CallContext::acceptable(std::string_view name, std::size_t bytes, std::size_t align) {
  constexpr std::size_t kMostNameBytes = 256;
  if (name.size() > kMostNameBytes) {
    fail(std::string(kTargetErrorCode),
         fmt::format("the name of scratch has {} bytes, at most {} are possible", name.size(),
                     kMostNameBytes));
    return false;
  }
  if (std::has_single_bit(align) && bytes <= kMostRawBytes && align <= kMostRawBytes) return true;
  const auto as_signed = static_cast<std::int64_t>(bytes);
  fail("impossible-size",
       fmt::format("'{}': {} bytes{} aligned to {}", name, bytes,
                   as_signed < 0 ? fmt::format(" (as a signed number {})", as_signed) : "", align));
  return false;
}

bool CallContext::own_scratch_each_run() const {
  return state_.streams.side > 0 || unit_.item->graph != 0;
}

RawBuffer* CallContext::reusable_scratch(std::string_view name, std::size_t bytes,
                                         std::size_t align) {
  if (own_scratch_each_run()) return nullptr;
  for (auto& s : unit_.scratch)
    if (s.run != run_ && s.bytes == bytes && s.align == align && s.name == name) return &s;
  return nullptr;
}

std::string CallContext::unused_label(std::string_view name) const {
  const auto used = std::count_if(unit_.scratch.begin(), unit_.scratch.end(),
                                  [&](const auto& s) { return s.run == run_ && s.name == name; });
  return used == 0 ? std::string(name) : fmt::format("{}#{}", name, used + 1);
}

bool CallContext::fill_before_launch(const device::BufferJob& job, int stream) {
  state_.scratch_fills.add(stream, job);
  if (state_.immediate) return fill_scratch() && state_.make_ready();
  return !state_.stream_is_out || fill_scratch();
}

void CallContext::add_spent() const {
  for (auto it = state_.spent.begin(); it != state_.spent.end();) {
    RawBuffer& scratch = *it->scratch;
    if (it->stream != unit_.item->stream) {
      ++it;
      continue;
    }
    scratch.job =
        freed_job(scratch.at, scratch.bytes, state_.mode.poison, device::kCanaryWindowBytes);
    scratch.watched = true;
    state_.scratch_fills.add(it->stream, without_canaries(scratch.job));
    it = state_.spent.erase(it);
  }
}

bool CallContext::fill_scratch() const {
  // Fills never become part of a graph: they follow after the target's capture, or run before each
  // replay of a plan's graph.
  Session& session = state_.session;
  if (state_.scratch_fills.jobs.empty() || session.capturing()) return !session.lost();
  const bool filled = state_.memory.ordered() ? fill_in_order() : fill_for_all();
  state_.scratch_fills.clear();
  return filled;
}

// Each fill runs on the stream that its buffer was allocated for, because that stream may still use
// the reused memory. Other streams of the target must wait for that stream anyway, so the fill adds
// no order that the target lacks.
bool CallContext::fill_in_order() const {
  const auto& [jobs, streams] = state_.scratch_fills;
  for (std::size_t begin = 0, end = 0; begin < jobs.size(); begin = end) {
    while (end < jobs.size() && streams[end] == streams[begin]) ++end;
    if (!state_.session.fill(streams[begin], std::span(jobs).subspan(begin, end - begin)))
      return false;
  }
  return true;
}

// For memory without an earlier owner: the fills wait for nothing and precede all work of the call.
bool CallContext::fill_for_all() const {
  Session& session = state_.session;
  const int own = unit_.item->stream;
  const int fills = state_.streams.fills(own);
  if (fills == own) add_spent();
  bool filled = session.fill(fills, state_.scratch_fills.jobs) && session.wait(own, fills);
  for (int i = 1; filled && i <= state_.streams.side; ++i)
    filled = session.wait(state_.streams.side_stream(i), fills);
  return filled;
}

void* CallContext::scratch(std::string_view name, std::size_t bytes, std::size_t align) {
  if (ended() || !acceptable(name, bytes, align)) return nullptr;
  if (RawBuffer* s = reusable_scratch(name, bytes, align)) {
    s->run = run_;
    if (state_.memory.ordered() && !move_scratch(*s)) return nullptr;
    if (!state_.checks) return s->at.data;
    const auto job = without_canaries(s->job);
    return fill_before_launch(job, unit_.item->stream) ? s->at.data : nullptr;
  }
  device::Region region;
  const auto at = state_.acquire({bytes, 0, align}, region, unit_.item->stream);
  if (!at) return nullptr;
  std::string label = unused_label(name);
  auto& s = unit_.scratch.emplace_back();
  s.name = name;
  s.label = std::move(label);
  s.bytes = bytes;
  s.align = align;
  s.run = run_;
  s.call = call();
  s.region = region;
  s.at = *at;
  s.job = raw_job(*at, bytes, state_.mode.poison);
  state_.watch(s.label, call(), *at, bytes);
  if (!state_.checks) return s.at.data;
  return fill_before_launch(s.job, unit_.item->stream) ? s.at.data : nullptr;
}

void* CallContext::workspace(std::string_view name, std::size_t bytes, std::size_t align) {
  if (ended() || !acceptable(name, bytes, align)) return nullptr;
  for (auto& w : state_.workspaces) {
    if (w.name != name) continue;
    if (bytes <= w.bytes && align <= w.align) return w.at.data;
    fail(
        "memory-grew",
        fmt::format("workspace '{}': {} bytes aligned to {} requested, but it has {} aligned to {}",
                    name, bytes, align, w.bytes, w.align));
    return nullptr;
  }
  device::Region region;
  const auto at = state_.acquire_lasting({bytes, 0, align}, region);
  if (!at) return nullptr;
  auto& w = state_.workspaces.emplace_back();
  w.name = w.label = name;
  w.bytes = bytes;
  w.align = align;
  w.call = call();
  w.region = region;
  w.at = *at;
  w.job = raw_job(*at, bytes, state_.mode.poison);
  w.job.fill = device::FillKind::constant;
  w.job.lo = 0;
  state_.watch(w.label, call(), *at, bytes);
  // The zeros are ordered before any use of the workspace; the target must order its own accesses.
  return state_.fill_once(w.job, unit_.item->stream) ? w.at.data : nullptr;
}

KernelRef CallContext::variant(const VariantRequest& request) {
  if (!ended()) {
    auto kernel = state_.session.device().variant(request);
    if (kernel) return *kernel;
    state_.session.stop(kernel.error());
  }
  return {.name = request.name};
}

void CallContext::launch(const KernelRef& kernel, const LaunchShape& shape,
                         const LaunchArgs& args) {
  if (ended()) return;
  const auto stream = device_stream(shape.stream);
  if (!stream) return;
  if (state_.records && unit_.item->first && run_ == 0)
    state_.of_call(call()).launches.push_back(launch_observation(kernel, shape));
  if (!fill_scratch()) return;
  state_.flush_watch();
  state_.session.launch(*stream, kernel, shape, args);
}

void CallContext::begin_capture() {
  if (ended()) return;
  if (capturing_) return fail(std::string(kTargetErrorCode), "begin_capture() inside of a capture");
  if (state_.session.capturing())
    return unsupported("the target captures a graph itself, and this call is captured already");
  if (fill_scratch()) capturing_ = state_.session.begin_capture(unit_.item->stream);
}

GraphRef CallContext::end_capture() {
  if (!capturing_) {
    if (!ended()) fail(std::string(kTargetErrorCode), "end_capture() without a begin_capture()");
    return {};
  }
  capturing_ = false;
  const GraphRef graph{state_.session.end_capture(false)};
  if (graph && state_.flush_fills(unit_.item->stream)) fill_scratch();
  return graph;
}

void CallContext::replay(const GraphRef& graph, int stream) {
  if (ended()) return;
  const auto on = device_stream(stream);
  if (!on) return;
  if (!state_.session.is_graph(graph.id))
    return fail(std::string(kTargetErrorCode),
                fmt::format("replay of graph {}, which does not exist", graph.id));
  if (!fill_scratch()) return;
  state_.flush_watch();
  state_.session.replay(*on, graph.id);
}

void CallContext::unsupported(std::string reason) {
  if (reason.empty()) reason = "the target refuses the call, and gives no reason";
  state_.session.stop(End::unsupported, std::move(reason));
}

void CallContext::fail(std::string code, std::string message) {
  if (code.empty()) {
    code = kTargetErrorCode;
    message = message.empty() ? "fail() without a code" : "fail() without a code: " + message;
  }
  state_.session.stop_fault(std::move(code), call(), {}, std::move(message));
}

}  // namespace redzone::trial
