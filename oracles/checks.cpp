#include "oracles/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include "core/byte_count.h"
#include "core/host_place.h"
#include "core/near_fault.h"

namespace redzone::oracles {
namespace {

constexpr std::array<std::string_view, 7> kAddressCodes = {"SIGSEGV",
                                                           "SIGBUS",
                                                           "CUDA_ERROR_ILLEGAL_ADDRESS",
                                                           kMisalignedCode,
                                                           "CUDA_ERROR_INVALID_ADDRESS_SPACE",
                                                           "CUDA_ERROR_INVALID_PC",
                                                           kSharedOverrunCode};

// For an exception, only its type: the detail contains its text.
std::string_view short_code(std::string_view code) {
  if (!code.starts_with(kException)) return code;
  return code.substr(
      0, std::min(code.find(": ", kException.size()), code.find(" in ", kException.size())));
}

std::string side_of(const BufferObservation& b) {
  if (b.dirty_before > 0) return "before";
  return b.dirty_after > 0 ? "after" : "gap";
}

const BufferObservation* find_buffer(const CallObservation& call, std::string_view name) {
  for (const auto& b : call.buffers)
    if (b.name == name) return &b;
  return nullptr;
}

// The first output of `a` whose digest differs from that of `b`.
std::optional<std::string> differing_output(const CallObservation& a, const CallObservation& b) {
  for (const auto& buffer : a.buffers) {
    if (buffer.scratch || buffer.role == Role::in) continue;
    const auto* other = find_buffer(b, buffer.name);
    if (other != nullptr && other->digest != buffer.digest) return buffer.name;
  }
  return std::nullopt;
}

bool was_sampled(const CallObservation& call) {
  return call.comparison == Comparison::sampled || call.comparison == Comparison::sampled_instead;
}

bool was_compared(const CallObservation& call) {
  return call.comparison == Comparison::compared || was_sampled(call);
}

bool is_empty(const CallObservation& call) {
  return call.comparison == Comparison::empty;
}

bool has_compared(const Observation& o) {
  return std::any_of(o.calls.begin(), o.calls.end(), was_compared);
}

const ReferenceObservation* find_reference(const CallObservation& call, std::string_view tensor) {
  for (const auto& r : call.references)
    if (r.tensor == tensor) return &r;
  return nullptr;
}

// The first output that is within the tolerance of the reference in exactly one of the two calls.
std::optional<std::string> output_off_once(const CallObservation& a, const CallObservation& b) {
  if (!was_compared(a) || !was_compared(b)) return std::nullopt;
  for (const auto& r : a.references) {
    const auto* other = find_reference(b, r.tensor);
    if (other != nullptr && (other->mismatches == 0) != (r.mismatches == 0)) return r.tensor;
  }
  return std::nullopt;
}

const CallObservation* find_call(const Observation& o, std::int32_t call) {
  for (const auto& c : o.calls)
    if (c.call == call) return &c;
  return nullptr;
}

// How the outputs of a call were checked, over all trials.
struct OutputsSeen {
  int trials = 0;         // number of trials in which the call completed
  bool whole = false;     // compared with the reference
  bool sampled = false;   // some rows were compared
  bool elements = false;  // some output has an element
};

std::map<std::int32_t, OutputsSeen> outputs_of(std::span<const Observation> observations) {
  std::map<std::int32_t, OutputsSeen> out;
  for (const auto& o : observations)
    for (const auto& call : o.calls) {
      if (call.buffers.empty()) continue;
      OutputsSeen& seen = out[call.call];
      ++seen.trials;
      seen.whole = seen.whole || call.comparison == Comparison::compared;
      seen.sampled = seen.sampled || was_sampled(call);
      for (const auto& b : call.buffers)
        seen.elements = seen.elements || (!b.scratch && b.role != Role::in && b.numel > 0);
    }
  return out;
}

std::string_view how_bases_are_aligned(Alignment alignment) {
  switch (alignment) {
    case Alignment::promised:
      break;
    case Alignment::exact:
      return "; tensors were aligned to what the spec promises and no more";
    case Alignment::element:
      return "; where the spec says no align_bytes, tensors ended at a multiple of 16 bytes";
    case Alignment::mixed:
      return "; some tensors of each call were aligned to what the spec promises and no more";
  }
  return "";
}

// "run() of call 1 (N = 4)" or "the target's destructor"; only the call if a kernel may have run.
std::string place_of(const Plan& plan, const Fault& fault) {
  const std::string call = describe_call(plan, fault.call);
  if (fault.detail == kInRun) return "run() of " + call;
  if (fault.detail == kInConstructor) return "the target's constructor";
  return fault.detail == kInDestructor ? "the target's destructor" : call;
}

// "illegal write in k at 4 bytes after 'x'".
std::string access_of(const Signature& s, const Fault& fault) {
  const std::string where = fault.kernel.empty() ? "" : " in " + fault.kernel;
  if (is_stack_overflow(fault)) return "stack overflow" + where;
  std::string at;
  if (!s.buffer.empty() && s.side.empty())
    at = fmt::format(" at an address of the '{}'", s.buffer);
  else if (!s.buffer.empty())
    at =
        fmt::format(" at {} {} '{}'", byte_count(std::abs(fault.distance_bytes)), s.side, s.buffer);
  else if (tells_address(fault))
    at = " at an address near no known buffer";
  return fmt::format("illegal {}{}{}", s.access.empty() ? "access" : s.access, where, at);
}

Verdict misaligned_access(std::string_view oracle, const Plan& plan, Signature s,
                          const Fault& fault) {
  s.kind = FailKind::misaligned;
  const std::string_view before = s.access == name_of(Access::write) ? "to" : "of";
  const std::string buffer = s.buffer.empty() ? "" : fmt::format(" {} '{}'", before, s.buffer);
  return fail(
      oracle, s, fault.call,
      fmt::format("misaligned {}{}{} of {} ({}){}", s.access.empty() ? "access" : s.access, buffer,
                  s.where.empty() ? "" : " in " + s.where, describe_call(plan, fault.call),
                  fault.code, how_bases_are_aligned(plan.mode.alignment)));
}

// True if the call has a tensor of role `out` with at least one element.
bool has_output(const CallObservation& call) {
  return std::ranges::any_of(call.buffers, [](const BufferObservation& b) {
    return !b.scratch && b.role == Role::out && b.numel > 0;
  });
}

Signature write_inside(FailKind kind, const Plan& plan, const BufferObservation& buffer) {
  Signature s;
  s.kind = kind;
  s.target = plan.target;
  s.buffer = buffer.name;
  s.side = name_of(Side::inside);
  s.access = "write";
  return s;
}

}  // namespace

bool launched_nothing(std::span<const Observation> observations) {
  return std::ranges::all_of(observations, [](const Observation& o) {
    return o.idle && !has_compared(o) && std::ranges::none_of(o.calls, has_output);
  });
}

bool can_compare(const TargetSpec& spec) {
  return spec.deterministic || spec.has_reference;
}

bool compares_by_reference(const TargetSpec& spec) {
  return !spec.deterministic && spec.has_reference;
}

std::optional<Verdict> cannot_compare(std::string_view oracle, const TargetSpec& spec,
                                      std::span<const Observation> observations) {
  const std::string name(oracle);
  if (!can_compare(spec))
    return Verdict{Outcome::not_applicable,
                   name,
                   "the target is declared nondeterministic, and has no reference",
                   {},
                   -1};
  for (const auto& o : observations) {
    if (auto v = cannot_judge(oracle, o)) return v;
    if (o.end != End::completed)
      return Verdict{Outcome::inconclusive, name, "a trial did not complete", {}, -1};
    if (compares_by_reference(spec) && !has_compared(o))
      return Verdict{Outcome::not_applicable,
                     name,
                     "the target is declared nondeterministic, and no call of a trial was compared "
                     "with the reference",
                     {},
                     -1};
  }
  return std::nullopt;
}

Verdict depends(std::string_view oracle, FailKind kind, const Plan& plan,
                const Difference& difference, std::string_view claim) {
  Signature s;
  s.kind = kind;
  s.target = plan.target;
  s.buffer = difference.tensor;
  return fail(oracle, s, difference.call,
              fmt::format("'{}' of {} depends on {}", s.buffer,
                          describe_call(plan, difference.call), claim));
}

Verdict judge_between(std::string_view oracle, FailKind kind, const Plan& plan,
                      const TargetSpec& spec, std::span<const Observation> observations,
                      std::string_view claim) {
  if (auto v = cannot_compare(oracle, spec, observations)) return *v;
  const Observation& first = observations.front();
  if (first_difference(spec, first, observations.back()))
    return {Outcome::inconclusive, std::string(oracle), "two runs in the same mode differ", {}, -1};
  for (const auto& between : observations.subspan(1, observations.size() - 2))
    if (auto difference = first_difference(spec, first, between))
      return depends(oracle, kind, plan, *difference, claim);
  return Verdict::pass(std::string(oracle));
}

Verdict judge_equal(std::string_view oracle, const Plan& plan, const TargetSpec& spec,
                    std::span<const Observation> observations) {
  if (auto v = cannot_compare(oracle, spec, observations)) return *v;
  for (const auto& again : observations.subspan(1))
    if (auto difference = first_difference(spec, observations[0], again))
      return depends(oracle, FailKind::nondeterministic, plan, *difference,
                     "the run: nothing else was changed");
  return Verdict::pass(std::string(oracle));
}

Verdict fail(std::string_view oracle, Signature signature, std::int32_t call, std::string reason) {
  return {Outcome::fail, std::string(oracle), std::move(reason), std::move(signature), call};
}

std::string describe_call(const Plan& plan, std::int32_t call) {
  const auto calls = calls_of(plan);
  if (call < 0 || static_cast<std::size_t>(call) >= calls.size()) return "an unknown call";
  std::string dims;
  for (const auto& [name, value] : calls[static_cast<std::size_t>(call)]->call.dims)
    dims += fmt::format("{}{} = {}", dims.empty() ? "" : ", ", name, value);
  return fmt::format("call {} ({})", call + 1, dims);
}

std::optional<Verdict> cannot_judge(std::string_view oracle, const Observation& observation) {
  switch (observation.end) {
    case End::worker_error:
    case End::spec_error:
      return Verdict{Outcome::harness_error, std::string(oracle), observation.message, {}, -1};
    case End::unsupported:
    case End::out_of_memory:
      return Verdict{Outcome::not_applicable, std::string(oracle), observation.message, {}, -1};
    case End::completed:
    case End::fault:
    case End::hang:
    case End::exited:
      break;
  }
  return std::nullopt;
}

std::optional<Verdict> judge_fault(std::string_view oracle, const Plan& plan,
                                   const Observation& observation) {
  if (observation.end == End::completed) return std::nullopt;
  const Fault fault = observation.fault.value_or(Fault{});
  Signature s;
  s.target = plan.target;
  s.where = fault.kernel;
  if (observation.end == End::hang) {
    s.kind = FailKind::hang;
    return fail(oracle, s, fault.call,
                fmt::format("{} did not end before the deadline", place_of(plan, fault)));
  }
  if (observation.end == End::exited) {
    s.kind = FailKind::fault;
    s.where = "exit";
    return fail(oracle, s, fault.call, "the target ended the process: " + observation.message);
  }
  const bool in_host_code = is_host_place(fault.detail);
  const bool address =
      std::find(kAddressCodes.begin(), kAddressCodes.end(), fault.code) != kAddressCodes.end();
  if (!address) {
    s.kind = FailKind::fault;
    s.where = fault.code;
    const std::string_view what = short_code(fault.code);
    // The target could not be constructed, so the fault is in no call: the detail explains it.
    if (fault.call < 0 && (fault.code == kTargetErrorCode || fault.code.starts_with(kException)))
      return fail(oracle, s, fault.call, fmt::format("{} {}", what, fault.detail));
    return fail(oracle, s, fault.call,
                fmt::format("{} in {}{}{}", what, place_of(plan, fault),
                            in_host_code || fault.detail.empty() ? "" : ": ",
                            in_host_code ? "" : fault.detail));
  }
  s.kind = FailKind::illegal_access;
  if (fault.access != Access::unknown) s.access = name_of(fault.access);
  if (is_near(fault)) {
    s.buffer = fault.buffer;
    if (fault.side != Side::unknown) s.side = name_of(fault.side);
  }
  if (fault.code == kMisalignedCode) return misaligned_access(oracle, plan, std::move(s), fault);
  const std::string code =
      fault.code == kSharedOverrunCode ? fault.code + ", " + fault.detail : fault.code;
  return fail(oracle, s, fault.call,
              fmt::format("{}{}{} ({}){}", access_of(s, fault), in_host_code ? ", in " : " of ",
                          place_of(plan, fault), code,
                          tells_address(fault) ? "" : "; the fault tells no address"));
}

bool shows_writes(const Observation& observation) {
  switch (observation.end) {
    case End::completed:
    case End::unsupported:
    case End::out_of_memory:
      return true;
    case End::worker_error:
    case End::spec_error:
    case End::fault:
    case End::hang:
    case End::exited:
      break;
  }
  return false;
}

std::optional<Verdict> judge_canaries(std::string_view oracle, const Plan& plan,
                                      const Observation& observation) {
  for (const auto& call : observation.calls)
    for (const auto& b : call.buffers) {
      const std::uint64_t dirty = b.dirty_before + b.dirty_after + b.dirty_gaps;
      if (dirty == 0) continue;
      Signature s;
      s.kind = FailKind::redzone;
      s.target = plan.target;
      s.buffer = b.name;
      s.side = side_of(b);
      s.access = "write";
      return fail(
          oracle, s, call.call,
          fmt::format("{} canary {} around '{}' of {} {} overwritten, the first {} {} its start",
                      dirty, dirty == 1 ? "byte" : "bytes", b.name, describe_call(plan, call.call),
                      dirty == 1 ? "was" : "were", byte_count(std::abs(b.first_dirty_byte)),
                      b.first_dirty_byte < 0 ? "before" : "from"));
    }
  for (const auto& call : observation.calls)
    for (const auto& b : call.buffers) {
      if (!b.scratch || b.changed == 0) continue;
      return fail(oracle, write_inside(FailKind::use_after_free, plan, b), call.call,
                  fmt::format("use after free: write to '{}' of {}, {} elements of it", b.name,
                              describe_call(plan, call.call), b.changed));
    }
  for (const auto& call : observation.calls)
    for (const auto& b : call.buffers) {
      if (b.role != Role::in || b.scratch || b.changed == 0) continue;
      return fail(oracle, write_inside(FailKind::input_changed, plan, b), call.call,
                  fmt::format("{} elements of the const input '{}' of {} were overwritten",
                              b.changed, b.name, describe_call(plan, call.call)));
    }
  return std::nullopt;
}

std::optional<Verdict> judge_reference(std::string_view oracle, const Plan& plan,
                                       const Observation& observation) {
  for (const auto& call : observation.calls)
    for (const auto& r : call.references) {
      if (r.mismatches == 0) continue;
      Signature s;
      s.kind = FailKind::reference;
      s.target = plan.target;
      s.buffer = r.tensor;
      return fail(
          oracle, s, call.call,
          fmt::format("'{}' of {}: {} of {} elements{} are beyond the tolerance; element {} is "
                      "{:.9g}, expected {:.9g}",
                      r.tensor, describe_call(plan, call.call), r.mismatches, r.numel,
                      r.of == 0 ? "" : fmt::format(" in a sample of {}", r.of), r.first_index,
                      r.got, r.want));
    }
  return std::nullopt;
}

ReferenceCount compared_calls(const Plan& plan, const TargetSpec& spec,
                              const Observation* comparing) {
  if (!spec.has_reference) return {};
  ReferenceCount count{0, static_cast<std::int64_t>(calls_of(plan).size())};
  if (comparing == nullptr) return count;
  count.compared = std::count_if(comparing->calls.begin(), comparing->calls.end(), was_compared);
  count.sampled = std::count_if(comparing->calls.begin(), comparing->calls.end(), was_sampled);
  count.calls -= std::count_if(comparing->calls.begin(), comparing->calls.end(), is_empty);
  return count;
}

std::string why_not_compared(const Plan& plan, const Observation& observation) {
  if (observation.end != End::completed) return "the trial did not complete";
  const auto& calls = observation.calls;
  const auto first = std::find_if(calls.begin(), calls.end(), [](const CallObservation& c) {
    return c.comparison != Comparison::compared && !is_empty(c);
  });
  if (first == calls.end())
    return calls.empty() ? "no call was run to its end" : "all outputs of all calls are empty";
  const std::string call = describe_call(plan, first->call);
  switch (first->comparison) {
    case Comparison::left_out:
      return call + " was left out for lack of time";
    case Comparison::too_large:
      return call + " is too large for it";
    case Comparison::sampled:
    case Comparison::sampled_instead:
      return call + " was compared in a sample of its rows";
    case Comparison::none:
    case Comparison::empty:
    case Comparison::compared:
      break;
  }
  return "the trial did not compare " + call;
}

std::string why_not_compared(const Plan& plan, std::span<const TrialSpec> trials,
                             std::span<const Observation> observations) {
  const auto asks = std::find_if(trials.rbegin(), trials.rend(),
                                 [](const TrialSpec& trial) { return trial.reference; });
  if (asks == trials.rend()) return "no kernel ran";
  const auto index = static_cast<std::size_t>(trials.rend() - asks) - 1;
  if (index >= observations.size()) return "a trial before the one that compares was lost";
  return why_not_compared(plan, observations[index]);
}

OutputCount judged_outputs(const TargetSpec& spec, std::span<const Observation> observations) {
  OutputCount count;
  const bool ended = std::all_of(observations.begin(), observations.end(),
                                 [](const Observation& o) { return o.end == End::completed; });
  if (!ended) return count;
  for (const auto& [call, seen] : outputs_of(observations)) {
    const bool digests = spec.deterministic && seen.elements && seen.trials > 1;
    // In addition to a sample, digests compare the other rows.
    if (seen.whole || (seen.sampled && digests)) continue;
    ++(digests ? count.by_digests : count.by_nothing);
  }
  return count;
}

std::string why_outputs_not_judged(const TargetSpec& spec,
                                   std::span<const Observation> observations) {
  const auto calls = outputs_of(observations);
  const bool elements = std::any_of(calls.begin(), calls.end(),
                                    [](const auto& call) { return call.second.elements; });
  if (!elements)
    return std::all_of(spec.tensors.begin(), spec.tensors.end(),
                       [](const TensorSpec& t) { return !t.may_be_output(); })
               ? "its spec declares no output"
               : "all outputs of all calls are empty";
  if (spec.deterministic) return "the trials of a call could not be compared";
  return spec.has_reference
             ? "it is declared nondeterministic, and no call was compared with its reference"
             : "it is declared nondeterministic and has no reference";
}

std::optional<Difference> first_difference(const TargetSpec& spec, const Observation& a,
                                           const Observation& b) {
  const auto difference = spec.deterministic ? differing_output : output_off_once;
  for (const auto& call : a.calls) {
    const auto* other = find_call(b, call.call);
    if (other == nullptr) continue;
    if (auto tensor = difference(call, *other)) return Difference{call.call, *tensor};
  }
  return std::nullopt;
}

std::optional<Difference> first_inconsistency(const TargetSpec& spec, const Plan& plan,
                                              const Observation& observation) {
  if (!spec.deterministic) return std::nullopt;
  const auto steps = calls_of(plan);
  for (const auto& call : observation.calls)
    for (const auto& earlier : observation.calls) {
      if (earlier.call >= call.call) break;
      const auto& here = steps[static_cast<std::size_t>(call.call)]->call;
      if (!(here == steps[static_cast<std::size_t>(earlier.call)]->call)) continue;
      if (auto tensor = differing_output(call, earlier)) return Difference{call.call, *tensor};
    }
  return std::nullopt;
}

}  // namespace redzone::oracles
