#include "exec/trial/call_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace redzone::exec {
namespace {

constexpr std::size_t kMostRawBytes = std::size_t{1} << 62;

LaunchObservation observed(const KernelRef& kernel, const LaunchShape& shape) {
  return {.kernel = kernel.name,
          .grid = {shape.grid.x, shape.grid.y, shape.grid.z},
          .block = {shape.block.x, shape.block.y, shape.block.z},
          .shared_bytes = static_cast<std::int64_t>(shape.shared_bytes)};
}

}  // namespace

TensorArg CallContext::tensor(std::string_view name) const {
  for (const auto& t : unit_.tensors)
    if (t.spec->name == name) return argument(t);
  throw std::out_of_range(fmt::format("no tensor '{}'", name));
}

void* CallContext::stream() const {
  if (state_.session.lost()) return nullptr;
  state_.stream_is_out = true;
  fill_scratch();
  state_.session.give_out(unit_.item->stream);
  return state_.session.device().stream_handle(unit_.item->stream);
}

bool CallContext::acceptable(std::string_view name, std::size_t bytes, std::size_t align) {
  if (std::has_single_bit(align) && bytes <= kMostRawBytes && align <= kMostRawBytes) return true;
  fail("target-error", fmt::format("scratch '{}': {} bytes aligned to {}", name, bytes, align));
  return false;
}

RawBuffer* CallContext::reusable_scratch(std::string_view name, std::size_t bytes,
                                         std::size_t align) {
  for (auto& s : unit_.scratch)
    if (s.run != run_ && s.bytes == bytes && s.align == align && s.name == name) return &s;
  return nullptr;
}

std::string CallContext::unused_label(std::string_view name) const {
  const auto used = std::count_if(unit_.scratch.begin(), unit_.scratch.end(),
                                  [&](const auto& s) { return s.run == run_ && s.name == name; });
  return used == 0 ? std::string(name) : fmt::format("{}#{}", name, used + 1);
}

bool CallContext::fill_before_launch(const device::BufferJob& job) {
  state_.scratch_fills.push_back(job);
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
    scratch.freed = true;
    state_.scratch_fills.push_back(without_canaries(scratch.job));
    it = state_.spent.erase(it);
  }
}

bool CallContext::fill_scratch() const {
  if (state_.scratch_fills.empty()) return true;
  add_spent();
  const bool filled = state_.session.fill(unit_.item->stream, state_.scratch_fills);
  state_.scratch_fills.clear();
  return filled;
}

void* CallContext::scratch(std::string_view name, std::size_t bytes, std::size_t align) {
  if (ended() || !acceptable(name, bytes, align)) return nullptr;
  if (RawBuffer* s = reusable_scratch(name, bytes, align)) {
    s->run = run_;
    if (state_.memory.ordered() && !move_scratch(*s)) return nullptr;
    if (!state_.checks) return s->at.data;
    return fill_before_launch(without_canaries(s->job)) ? s->at.data : nullptr;
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
  if (!state_.checks) return s.at.data;
  state_.watch(s.label, call(), *at, bytes);
  return fill_before_launch(s.job) ? s.at.data : nullptr;
}

void* CallContext::workspace(std::string_view name, std::size_t bytes, std::size_t align) {
  if (ended() || !acceptable(name, bytes, align)) return nullptr;
  for (auto& w : state_.workspaces) {
    if (w.name != name) continue;
    if (bytes <= w.bytes && align <= w.align) return w.at.data;
    fail("target-error",
         fmt::format("workspace '{}': {} bytes aligned to {} asked for, {} aligned to {} held",
                     name, bytes, align, w.bytes, w.align));
    return nullptr;
  }
  device::Region region;
  const auto at = state_.acquire({bytes, 0, align}, region, unit_.item->stream);
  if (!at) return nullptr;
  state_.memory.keep(region);
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
  return zero_before_use(w) ? w.at.data : nullptr;
}

bool CallContext::zero_before_use(RawBuffer& buffer) {
  // The zeros are there before any stream can use them; the rest is for the target to order.
  Session& session = state_.session;
  const int stream = unit_.item->stream;
  return session.fill(stream, {&buffer.job, 1}) && session.fork_from(stream);
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
  if (state_.checks && unit_.item->first && run_ == 0)
    state_.of_call(call()).launches.push_back(observed(kernel, shape));
  if (!fill_scratch()) return;
  state_.flush_watch();
  state_.session.launch(unit_.item->stream, kernel, shape, args);
}

void CallContext::unsupported(std::string reason) {
  state_.session.stop(End::unsupported, std::move(reason));
}

void CallContext::fail(std::string code, std::string message) {
  state_.session.stop_fault(std::move(code), call(), {}, std::move(message));
}

}  // namespace redzone::exec
