// CallContext: memory whose lifetime the target decides, copies and memsets.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "device/buffer_math.h"
#include "trial/call_context.h"

namespace redzone::trial {
namespace {

constexpr std::size_t kAllocationAlign = 256;
constexpr std::size_t kAllBytes = std::numeric_limits<std::size_t>::max();

ScratchObservation scratch_observation(std::string_view name, std::size_t bytes, std::size_t align,
                                       const ScratchNeed& need) {
  return {.name = std::string(name),
          .bytes = bytes,
          .align = align,
          .bytes_per_cta = need.bytes_per_cta,
          .grid = {need.grid.x, need.grid.y, need.grid.z},
          .num_ctas = need.num_ctas,
          .need_align = need.align};
}

// Writes the bytes that device::canary_byte() defines; the pattern repeats every 4 bytes of
// address.
void write_canary(std::byte* at, std::size_t bytes, std::uint32_t canary) {
  constexpr std::size_t kPeriod = 4;
  for (std::size_t i = 0; i < std::min(bytes, kPeriod); ++i)
    at[i] = std::byte{device::canary_byte(canary, at + i)};
  for (std::size_t done = kPeriod; done < bytes; done *= 2)
    std::memcpy(at + done, at, std::min(done, bytes - done));
}

}  // namespace

void CallContext::note_scratch(ScratchObservation request) {
  auto& noted = state_.of_call(call()).scratch;
  if (!noted.empty() && noted.back() == request) return;
  if (noted.size() < kMostScratchObservations) noted.push_back(std::move(request));
}

void* CallContext::scratch(std::string_view name, std::size_t bytes, std::size_t align,
                           const ScratchNeed& need) {
  if (ended() || !acceptable(name, bytes, align)) return nullptr;
  if (state_.records) note_scratch(scratch_observation(name, bytes, align, need));
  return bytes == 0 ? nullptr : scratch(name, bytes, align);
}

void CallContext::give_back_scratch() {
  if (!state_.memory.ordered()) return;
  for (const auto& s : unit_.scratch)
    if (s.run == run_) state_.memory.give_back(s.region, unit_.item->stream);
}

bool CallContext::move_scratch(RawBuffer& scratch) {
  const Storage storage{scratch.bytes, 0, scratch.align};
  const auto at = state_.acquire(storage, scratch.region, unit_.item->stream);
  if (!at) return false;
  if (at->storage != scratch.at.storage) state_.watch(scratch.label, call(), *at, scratch.bytes);
  scratch.at = *at;
  scratch.job = raw_job(*at, scratch.bytes, state_.mode.poison);
  return true;
}

void* CallContext::allocate(std::string_view name, std::size_t bytes, int stream) {
  if (ended() || !acceptable(name, bytes, kAllocationAlign)) return nullptr;
  const auto on = device_stream(stream);
  // An empty buffer also gets a distinct address, so that free() can identify it.
  const bool guarded = state_.mode.allocator == Allocator::guard;
  const Storage storage{guarded ? bytes : std::max<std::size_t>(bytes, 1), 0, kAllocationAlign};
  device::Region region;
  const auto at = on ? state_.acquire(storage, region, *on) : std::nullopt;
  if (!at) return nullptr;
  state_.memory.keep(region);
  auto& a = state_.allocations.emplace_back();
  a.name = a.label = name;
  a.bytes = bytes;
  a.align = kAllocationAlign;
  a.call = call();
  a.captured = state_.session.capturing();
  a.region = region;
  a.at = *at;
  a.job = raw_job(*at, bytes, state_.mode.poison);
  if (!state_.checks) return a.at.data;
  state_.watch(a.label, a.call, *at, bytes);
  return fill_allocation(a, *on) ? a.at.data : nullptr;
}

bool CallContext::fill_allocation(const RawBuffer& a, int stream) {
  Session& session = state_.session;
  if (a.captured) return state_.fill_once(a.job, unit_.item->stream);
  if (session.record() == nullptr || state_.immediate) return fill_before_launch(a.job, stream);
  // If the trial records its order, the fill is part of the order of the stream, as for memory with
  // an earlier owner: an access that is not ordered after the allocation may run before the fill.
  const std::span<const std::byte> bytes(a.at.storage, a.bytes);
  const auto operation = session.record()->use(OperationKind::allocation, {&bytes, 1},
                                               /*writes=*/true, session.place(stream));
  return session.fill(stream, {&a.job, 1}, operation);
}

void* CallContext::growing_workspace(std::string_view name, std::size_t bytes) {
  if (ended()) return nullptr;
  const auto known = state_.growing.find(name);
  RawBuffer* const held = known == state_.growing.end() ? nullptr : known->second;
  const bool capturing = state_.session.capturing();
  if (held != nullptr && bytes <= held->bytes) {
    held->in_graph |= capturing;
    return held->at.data;
  }
  // The graph would keep the memory that a larger workspace replaces.
  if (capturing || (held != nullptr && held->in_graph)) {
    unsupported(fmt::format("workspace '{}' grows, but a graph would keep it as it is", name));
    return nullptr;
  }
  if (held != nullptr) release(*held, 0);
  void* const memory = allocate(name, bytes, 0);
  if (memory == nullptr) return nullptr;
  RawBuffer& grown = state_.allocations.back();
  grown.growing = true;
  state_.growing.insert_or_assign(std::string(name), &grown);
  memset(memory, 0, bytes, 0);
  return ended() ? nullptr : memory;
}

void CallContext::free(void* p, int stream) {
  if (ended() || p == nullptr) return;
  // Search from the latest allocation: earlier owners of the same memory have freed it.
  const auto a = std::find_if(state_.allocations.rbegin(), state_.allocations.rend(),
                              [&](const RawBuffer& b) { return b.at.data == p; });
  if (a == state_.allocations.rend() || a->growing)
    return fail("foreign-free", "free: not from allocate()");
  if (a->freed) return fail("double-free", fmt::format("free: '{}' was already freed", a->name));
  release(*a, stream);
}

void CallContext::release(RawBuffer& a, int stream) {
  const auto on = device_stream(stream);
  // Deferred fills must not follow the free, after which the memory may have another owner.
  if (!on || !fill_scratch()) return;
  a.freed = true;
  // Memory that a graph uses is not released before the trial ends.
  const bool captured = state_.session.capturing();
  Session::Ordered freed;
  const bool fills = state_.session.note_free(*on, a.at.storage, freed);
  if (captured || !state_.watches_freed()) {
    a.temporary = captured && a.captured && a.call == call();
    if (!captured) state_.memory.give_back(a.region, *on);
    return;
  }
  if (!fills) return;
  a.watched = true;
  a.job = freed_job(a.at, a.bytes, state_.mode.poison, kAllBytes);
  const device::BufferJob job = without_canaries(a.job);
  state_.session.fill(*on, {&job, 1}, freed);
}

void* CallContext::pinned_memory(std::string_view name, std::size_t bytes) {
  if (ended() || !acceptable(name, bytes, 1)) return nullptr;
  for (const auto& h : state_.host_buffers) {
    if (h.name != name) continue;
    if (bytes <= h.bytes) return state_.session.give_to_host(h.at.data) ? h.at.data : nullptr;
    fail("memory-grew",
         fmt::format("host memory '{}': {} bytes asked for, {} held", name, bytes, h.bytes));
    return nullptr;
  }
  const auto region = state_.memory.acquire_host(host_region_bytes(bytes));
  if (!region) return nullptr;
  auto& h = state_.host_buffers.emplace_back();
  h.name = h.label = name;
  h.bytes = bytes;
  h.call = call();
  h.region = *region;
  h.at = place_host(*region, bytes);
  h.job = raw_job(h.at, bytes, state_.mode.poison);
  // The CPU may write at once, so the CPU initializes the memory.
  std::memset(h.at.data, 0, bytes);
  write_canary(h.at.before, h.at.before_bytes, h.job.canary);
  write_canary(h.at.after, h.at.after_bytes, h.job.canary);
  state_.watch(h.label, h.call, h.at, bytes);
  return state_.session.give_to_host(h.at.data) ? h.at.data : nullptr;
}

void CallContext::copy(void* to, const void* from, std::size_t bytes, int stream) {
  if (ended()) return;
  const auto on = device_stream(stream);
  if (!on || !fill_scratch()) return;
  state_.flush_watch();
  state_.session.copy(*on, to, from, bytes);
}

void CallContext::memset(void* to, std::uint8_t value, std::size_t bytes, int stream) {
  if (ended()) return;
  const auto on = device_stream(stream);
  if (!on || !fill_scratch()) return;
  state_.flush_watch();
  state_.session.memset(*on, to, value, bytes);
}

}  // namespace redzone::trial
