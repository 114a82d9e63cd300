#include "trial/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace redzone::trial {
namespace {

// Bytes of the regions of the unit's tensors; nullopt if one of the tensors cannot exist.
std::optional<std::size_t> describe(TrialState& state, const TargetSpec& spec, CallUnit& unit) {
  std::size_t bytes = 0;
  unit.tensors.resize(spec.tensors.size());
  for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
    TensorBuffer& tensor = unit.tensors[i];
    const auto described =
        describe_tensor(spec.tensors[i], spec, *unit.item->call, state.mode, tensor);
    if (!described) {
      const bool mistake = described.error().kind == ErrorKind::usage;
      state.session.stop(mistake ? End::spec_error : End::out_of_memory,
                         fmt::format("target '{}', tensor '{}': {}", spec.name,
                                     spec.tensors[i].name, described.error().message));
      return std::nullopt;
    }
    tensor.storage.margin_bytes = state.margin_bytes();
    const std::size_t more = state.memory.rounded(region_bytes(tensor.storage));
    if (__builtin_add_overflow(bytes, more, &bytes))
      bytes = std::numeric_limits<std::size_t>::max();
  }
  return bytes;
}

void place_unit(TrialState& state, CallUnit& unit) {
  for (int use = 0; auto& tensor : unit.tensors) {
    const auto region = state.memory.acquire(region_bytes(tensor.storage), 0, use++);
    if (!region) return;
    place_tensor(tensor, *region, state.mode);
    state.watch(tensor.spec->name, unit.item->index, tensor.at, tensor.storage.bytes,
                tensor.role == Role::in);
  }
}

// Records the harness's use of all tensors of the units as an operation of the trial's order.
Session::Ordered note_use(Session& session, OperationKind kind, std::span<const CallUnit> units,
                          bool writes) {
  if (session.record() == nullptr) return std::nullopt;
  std::vector<std::span<const std::byte>> tensors;
  for (const auto& unit : units)
    for (const auto& tensor : unit.tensors)
      if (!unit.waits) tensors.emplace_back(tensor.at.storage, tensor.storage.bytes);
  return session.record()->use(kind, tensors, writes, session.place(0));
}

bool is_surrounded(const TrialState& state, const device::BufferJob& job) {
  return state.mode.allocator == Allocator::guard || job.before_bytes + job.after_bytes > 0;
}

BufferObservation buffer_observation(const device::BufferCheck& check) {
  constexpr auto kNone = std::numeric_limits<std::int64_t>::max();
  BufferObservation o;
  o.digest = check.digest;
  o.dirty_before = check.dirty_before;
  o.dirty_after = check.dirty_after;
  o.dirty_gaps = check.dirty_gaps;
  o.changed = check.changed;
  o.first_dirty_byte = check.first_dirty_byte == kNone ? 0 : check.first_dirty_byte;
  return o;
}

BufferObservation buffer_observation(const TrialState& state, const TensorBuffer& tensor,
                                     const device::BufferCheck& check) {
  BufferObservation o = buffer_observation(check);
  o.surrounded = is_surrounded(state, tensor.job);
  o.name = tensor.spec->name;
  o.role = tensor.role;
  o.numel = static_cast<std::uint64_t>(tensor.job.numel);
  return o;
}

BufferObservation buffer_observation(const TrialState& state, const RawBuffer& buffer,
                                     const device::BufferCheck& check) {
  BufferObservation o = buffer_observation(check);
  o.surrounded = is_surrounded(state, buffer.job);
  o.name = buffer.label;
  o.scratch = true;
  o.digest = 0;
  o.numel = buffer.bytes;
  return o;
}

bool dirty(const BufferObservation& o) {
  return o.dirty_before + o.dirty_after + o.dirty_gaps > 0;
}

// A job for all bytes of a watched buffer, else for its canaries only.
device::BufferJob check_job(const RawBuffer& buffer) {
  return buffer.watched ? buffer.job : canaries_only(buffer.job);
}

bool was_freed_aside(const TrialState& state) {
  return state.streams.side > 0 && std::any_of(state.allocations.begin(), state.allocations.end(),
                                               [](const RawBuffer& b) { return b.watched; });
}

void note(CallObservation& call, BufferObservation now) {
  auto before = std::find_if(call.buffers.begin(), call.buffers.end(), [&](const auto& b) {
    return b.scratch == now.scratch && b.name == now.name;
  });
  if (before == call.buffers.end()) {
    call.buffers.push_back(std::move(now));
    return;
  }
  if (dirty(*before)) now.first_dirty_byte = before->first_dirty_byte;
  now.dirty_before += before->dirty_before;
  now.dirty_after += before->dirty_after;
  now.dirty_gaps += before->dirty_gaps;
  now.changed += before->changed;
  now.surrounded = now.surrounded && before->surrounded;
  *before = std::move(now);
}

}  // namespace

// The next unit; a reused one keeps its memory.
CallUnit& Segment::add_unit(const RunItem& item) {
  if (count == units.size()) units.emplace_back();
  CallUnit& unit = units[count++];
  unit.item = &item;
  unit.waits = false;
  unit.scratch.clear();
  return unit;
}

void prepare(TrialState& state, const TargetSpec& spec, std::span<const RunItem> items,
             std::size_t bytes, std::size_t calls, Segment& out) {
  out.items = {};
  out.count = 0;
  out.ran = 0;
  out.checked = out.scratch_checked = out.trial_checked = false;
  std::size_t used = 0, taken = 0;
  std::size_t cut = 0, cut_count = 0;  // the last point at which the segment may end
  for (; taken < items.size(); ++taken) {
    const RunItem& item = items[taken];
    if (!item.joined) {
      cut = taken;
      cut_count = out.count;
    }
    if (item.kind != RunItem::Kind::call) continue;
    const auto more = describe(state, spec, out.add_unit(item));
    if (!more) return;
    const bool full = out.count > calls || *more > bytes - std::min(bytes, used);
    if (full && cut_count > 0) {
      taken = cut;
      out.count = cut_count;
      break;
    }
    used += *more;
  }
  out.items = items.first(taken);
  for (auto& unit : out.used()) {
    if (state.session.stopped()) return;
    place_unit(state, unit);
  }
}

void fill(TrialState& state, Segment& segment) {
  if (state.session.stopped()) return;
  segment.jobs.clear();
  for (const auto& unit : segment.used())
    for (const auto& tensor : unit.tensors)
      if (state.checks || tensor.role != Role::out) segment.jobs.push_back(tensor.job);
  // A call's tensors are ready in the order of its own stream: a side stream must wait for that
  // stream. The stream of fills, for which all side streams wait, does not wait for these fills:
  // the host has already waited for the previous segment, whose memory it may fill.
  const auto filled = note_use(state.session, OperationKind::fill, segment.used(), true);
  if (state.session.fill(0, segment.jobs, filled)) state.session.fork_from(0, state.streams.plan);
}

void check(TrialState& state, Segment& segment, bool last) {
  segment.jobs.clear();
  segment.scratch_checked = !state.session.gave_up();
  segment.trial_checked = last && segment.scratch_checked;
  for (std::size_t i = 0; i < segment.ran; ++i) {
    if (segment.units[i].waits) continue;
    for (const auto& tensor : segment.units[i].tensors) segment.jobs.push_back(tensor.job);
    if (!segment.scratch_checked) continue;
    for (const auto& s : segment.units[i].scratch) segment.jobs.push_back(check_job(s));
  }
  state.spent.clear();  // later work may reuse the memory of spent scratch
  const std::size_t of_calls = segment.jobs.size();
  if (segment.trial_checked)
    state.for_each_lasting([&](const RawBuffer& b) { segment.jobs.push_back(check_job(b)); });
  segment.results.resize(segment.jobs.size());
  const std::span<const device::BufferJob> jobs(segment.jobs);
  device::BufferCheck* const results = segment.results.data();
  Session& session = state.session;
  // A call completes on its own stream: work of a side stream that is not joined to it is too late.
  segment.checked = session.join_to(0, state.streams.plan);
  if (!segment.checked) return;
  const auto read =
      note_use(session, OperationKind::check, std::span(segment.units).first(segment.ran), false);
  // A side stream on which memory was freed need not be joined to its call.
  const std::size_t first = was_freed_aside(state) ? of_calls : jobs.size();
  segment.checked =
      session.check(0, jobs.first(first), results, read) &&
      (first == jobs.size() || (session.join_to(0, state.streams.all()) &&
                                session.check(0, jobs.subspan(first), results + first)));
}

void collect(TrialState& state, const Segment& segment) {
  if (!segment.checked) return;
  auto result = segment.results.begin();
  for (std::size_t i = 0; i < segment.ran; ++i) {
    const CallUnit& unit = segment.units[i];
    if (unit.waits) continue;
    CallObservation& call = state.of_call(unit.item->index);
    if (unit.item->last) call.call = unit.item->index;  // complete
    if (call.buffers.empty()) call.buffers.reserve(unit.tensors.size() + unit.scratch.size());
    for (const auto& tensor : unit.tensors)
      note(call, buffer_observation(state, tensor, *result++));
    if (!segment.scratch_checked) continue;
    for (const auto& s : unit.scratch) note(call, buffer_observation(state, s, *result++));
  }
  if (!segment.trial_checked) return;
  state.for_each_lasting([&](const RawBuffer& b) {
    note(state.of_call(b.call), buffer_observation(state, b, *result++));
  });
}

void note_completed(TrialState& state, const Segment& segment) {
  for (std::size_t i = 0; i < segment.ran; ++i) {
    const RunItem& item = *segment.units[i].item;
    if (item.last) state.of_call(item.index).call = item.index;
  }
}

}  // namespace redzone::trial
