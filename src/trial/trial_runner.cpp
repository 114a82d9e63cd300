#include "trial/trial_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "core/leak.h"
#include "core/plan_text.h"
#include "core/repeats.h"
#include "core/work.h"
#include "target/capability.h"
#include "trial/encode.h"
#include "trial/fetched_outputs.h"
#include "trial/reference_sample.h"
#include "trial/thrown.h"

namespace redzone::trial {
namespace {

std::unique_ptr<Target> make_target(const TargetEntry& entry, Session& session) {
  const auto failed = [&](std::string code, const std::string& text) {
    session.stop_fault(std::move(code), -1, {}, "when it was made: " + text);
    return nullptr;
  };
  try {
    auto target = entry.make();
    return target ? std::move(target) : failed(std::string(kTargetErrorCode), "returned null");
  } catch (...) {
    auto thrown = thrown_now();
    return failed(std::move(thrown.code), thrown.text);
  }
}

}  // namespace

TrialLimits limits_for(const device::Info& info) {
  TrialLimits limits;
  const auto pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0)
    limits.reference_bytes =
        static_cast<std::size_t>(pages) / 4 * static_cast<std::size_t>(page_bytes);
  if (!traits_of(info.kind).execution.in_host_memory && info.memory_bytes > 0)
    limits.bytes = info.memory_bytes / 4;
  return limits;
}

TrialRunner::TrialRunner(device::Device& device, const Registry& registry, DeviceKind kind,
                         device::BlackBox* box, TrialLimits limits)
    : registry_(registry), traits_(traits_of(kind)), limits_(limits), state_(device, box) {
  device.set_black_box(box);
}

Observation TrialRunner::run(const Plan& plan, const TrialSpec& trial) {
  using Clock = std::chrono::steady_clock;
  RZ_CHECK(!device_lost());
  const auto start = Clock::now();
  state_.set_phase(device::Phase::preparing);
  const auto mapping_calls = [&] { return state_.memory.mapping_calls(trial.mode.allocator); };
  const std::uint64_t mapping_calls_before = mapping_calls();
  segment_count_ = 0;
  begin_sanitizer(trial.mode);
  left_out_ = trial.left_out;
  samples_ = trial.samples;
  state_.markers = limits_.checks;

  std::unique_ptr<Target> target;  // must outlive the work that it enqueued
  run_steps(plan, trial, target);
  finish(std::move(target));
  auto own_memory = own_blocks_.end();
  state_.memory.end();

  state_.set_phase(device::Phase::reporting);
  Observation o;
  state_.session.report(o);
  o.encodes = state_.refused.all();
  if (o.fault) explain_by_encodes(*o.fault, o.encodes);
  for (auto& call : state_.calls)
    if (call.call >= 0) o.calls.push_back(std::move(call));
  o.wall_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count());
  o.mapping_calls = mapping_calls() - mapping_calls_before;
  o.bytes = state_.memory.peak_bytes();
  o.idle = o.end == End::completed && state_.records && !state_.immediate &&
           !state_.stream_is_out && !state_.session.worked();
  o.own_memory = own_memory;
  o.order = state_.session.order();
  if (state_.sanitizer != nullptr) o.sanitizer = state_.sanitizer->end_trial();
  return o;
}

void TrialRunner::begin_sanitizer(const Mode& mode) {
  const bool initcheck = mode.sanitizer == SanitizerTool::initcheck;
  state_.records = limits_.checks && !initcheck;
  // In a dry run buffers have no contents.
  state_.checks = state_.records && traits_.execution.runs_kernels;
  if (state_.sanitizer == nullptr) return;
  if (initcheck) state_.session.device().memory(mode.allocator).trim();
  state_.sanitizer->begin_trial();
}

void TrialRunner::run_steps(const Plan& plan, const TrialSpec& trial,
                            std::unique_ptr<Target>& target) {
  const TargetEntry* entry = registry_.find(plan.target, traits_.kind);
  const bool own_buffers = entry != nullptr && repeats_have_own_buffers(entry->spec);
  const auto scheduled = make_schedule(plan, trial, own_buffers, schedule_);
  StreamUse streams{.plan = schedule_.streams};
  if (entry != nullptr) {
    streams.side = entry->spec.side_streams;
    streams.concurrent_calls = entry->spec.concurrent_calls;
  }
  state_.immediate = entry != nullptr && entry->immediate && traits_.execution.on_host_cores;
  state_.begin(trial, streams, schedule_.calls, 2 * limits_.bytes);
  own_blocks_.begin();
  Session& session = state_.session;
  if (!scheduled) return session.stop(End::worker_error, scheduled.error().message);
  const SanitizerTool tool =
      state_.sanitizer == nullptr ? SanitizerTool::none : state_.sanitizer->tool();
  if (tool != trial.mode.sanitizer)
    return session.stop(End::worker_error,
                        fmt::format("a trial for sanitizer '{}' came to a worker under '{}'",
                                    name_of(trial.mode.sanitizer), name_of(tool)));
  if (entry == nullptr)
    return session.stop(
        End::worker_error,
        is_check(tool)
            ? fmt::format("no plugin that was built for checks has the target '{}'", plan.target)
            : fmt::format("this worker has no target '{}' for {}", plan.target, traits_.name));
  if (is_check(tool))
    if (auto why = problem_of_checked_build(entry->origin.path); !why.empty())
      return session.stop(End::worker_error, std::move(why));
  if (traits_.targets.checks_compute_capability)
    if (auto why = capability_problem(entry->spec, session.device().info().compute_capability))
      return session.stop(End::unsupported, std::move(*why));
  if (trial.mode.callers != Callers::one && entry->origin.source == TargetSource::python)
    return session.stop(End::unsupported,
                        "callers 'each': one host thread makes all calls of a Python target");
  if (trial.mode.addresses == Addresses::reused && entry->spec.remembers_addresses)
    return session.stop(End::unsupported,
                        fmt::format("addresses 'reused': '{}' declares remembers_addresses, so its "
                                    "tensors have addresses of their own",
                                    plan.target));
  if (session.stopped()) return;
  state_.set_phase(device::Phase::constructing);
  target = make_target(*entry, session);
  state_.set_phase(device::Phase::preparing);
  if (target == nullptr) return;
  try {
    run_segments(*entry, *target, state_.checks && trial.reference && entry->spec.has_reference);
  } catch (const SpecError& e) {  // from a function of the spec, which it names
    session.stop(End::spec_error, e.what());
  } catch (const std::exception& e) {
    session.stop(End::worker_error,
                 fmt::format("the trial of '{}' threw: {}", entry->spec.name, e.what()));
  }
}

void TrialRunner::run_segments(const TargetEntry& entry, Target& target, bool reference) {
  Session& session = state_.session;
  std::span<const RunItem> items(schedule_.items);
  while (!items.empty() && !session.stopped()) {
    Segment& now = segment(segment_count_++);
    state_.set_phase(device::Phase::preparing);
    forget_names();
    prepare(state_, entry.spec, items, limits_.bytes, calls_of_segment(entry.spec), now);
    // The next segment would reuse the memory of this one.
    if (entry.spec.remembers_addresses && now.items.size() < items.size())
      state_.session.stop(End::out_of_memory,
                          fmt::format("its tensors need more than {} bytes at the same time, since "
                                      "'{}' declares remembers_addresses",
                                      limits_.bytes, entry.spec.name));
    fill(state_, now);
    state_.set_phase(device::Phase::running);
    redzone::trial::run(state_, entry.spec, target, now);
    items = items.subspan(now.items.size());
    const bool last = items.empty() || session.stopped();
    state_.set_phase(device::Phase::checking);
    if (last) own_blocks_.close();
    if (state_.checks) check(state_, now, last);
    if (state_.checks || reference) counted_.settle(state_, entry.spec, now);
    if (reference) compare(entry, target, now);
    // Regions are only reused in the order of one stream of the trial. The output of a tool must be
    // mapped while the segment's buffers are known.
    if (!last &&
        (session.streams() > 1 || own_blocks_.connected() || state_.sanitizer != nullptr)) {
      session.synchronize();
      state_.drain_sanitizer(-1);
    }
    if (!last)
      state_.memory.retire();  // otherwise end() releases the regions in the order of
                               // their requests
  }
}

// Waits for the device before it forgets names, because work in flight may still fault near a
// buffer of a finished segment.
void TrialRunner::forget_names() {
  constexpr std::size_t most = 4096;
  const bool mapped = state_.sanitizer != nullptr && segment_count_ > 1;
  if (state_.names() < most && !mapped) return;
  if (state_.session.synchronize()) state_.forget_watched();
}

Comparison TrialRunner::comparison_of(const TargetSpec& spec, const CallUnit& unit) const {
  const bool empty = std::all_of(unit.tensors.begin(), unit.tensors.end(), [](const auto& t) {
    return t.role == Role::in || t.view.numel == 0;
  });
  if (empty) return Comparison::empty;
  const auto call = static_cast<std::uint32_t>(unit.item->index);
  const bool left_out = std::find(left_out_.begin(), left_out_.end(), call) != left_out_.end();
  const bool fits = reference_bytes(unit) <= limits_.reference_bytes;
  const bool always =
      spec.sampled_rows > 0 &&
      is_always_sampled(spec, work_of(spec, unit.item->call->dims, unit.item->call->config));
  if (!left_out && fits && !always) return Comparison::compared;
  const bool can_sample = spec.sampled_rows > 0 && samples_ &&
                          sample_bytes(unit, spec.sampled_rows) <= limits_.reference_bytes;
  if (can_sample) return always ? Comparison::sampled : Comparison::sampled_instead;
  return left_out ? Comparison::left_out : Comparison::too_large;
}

void TrialRunner::compare(const TargetEntry& entry, const Target& target, const Segment& segment) {
  if (state_.session.stopped()) {
    state_.session.synchronize();
    return;
  }
  compared_.clear();
  sampled_.clear();
  for (std::size_t i = 0; i < segment.ran; ++i) {
    const CallUnit& unit = segment.units[i];
    if (!unit.item->last || unit.waits) continue;
    const Comparison comparison = comparison_of(entry.spec, unit);
    if (comparison == Comparison::compared)
      compared_.push_back(&unit);
    else if (comparison == Comparison::sampled || comparison == Comparison::sampled_instead)
      sampled_.push_back({&unit, comparison});
    else
      state_.of_call(unit.item->index).comparison = comparison;
  }
  FetchedOutputs fetched(state_.session);
  fetched.enqueue(compared_);
  if (!state_.session.synchronize() || state_.session.stopped()) return;
  state_.set_phase(device::Phase::comparing);
  reference_.compare(state_, target, entry.spec, compared_, fetched);
  if (!state_.session.stopped()) reference_.sample(state_, target, entry.spec, sampled_);
  // If a reference threw, nothing was compared.
  if (!state_.session.stopped()) {
    for (const CallUnit* unit : compared_)
      state_.of_call(unit->item->index).comparison = Comparison::compared;
    for (const SampledUnit& sampled : sampled_)
      state_.of_call(sampled.unit->item->index).comparison = sampled.comparison;
  }
  state_.set_phase(device::Phase::checking);
}

void TrialRunner::finish(std::unique_ptr<Target> target) {
  Session& session = state_.session;
  const bool idle = session.synchronize();
  // Work in flight may use memory of the target's members. On a lost device it may still run, so
  // the target is leaked, and the worker exits without destroying anything.
  if (session.lost()) {
    leak_on_purpose(std::move(target));
  } else {
    state_.set_phase(device::Phase::destroying);
    target.reset();
    state_.set_phase(device::Phase::checking);
  }
  state_.drain_sanitizer(-1);
  for (std::size_t i = 0; idle && i < segment_count_; ++i) {
    if (state_.checks)
      collect(state_, *segments_[i]);
    else if (state_.records)
      note_completed(state_, *segments_[i]);
  }
}

Segment& TrialRunner::segment(std::size_t index) {
  if (index == segments_.size()) segments_.push_back(std::make_unique<Segment>());
  return *segments_[index];
}

}  // namespace redzone::trial
