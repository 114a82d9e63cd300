#include "oracles/sanitizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/mode_axes.h"
#include "oracles/checks.h"

namespace redzone::oracles {
namespace {

FailKind kind_of(const SanitizerRecord& record) {
  const std::string_view kind = record.kind;
  if (kind.starts_with("misaligned-")) return FailKind::misaligned;
  if (kind.starts_with("invalid-")) return FailKind::illegal_access;
  if (kind.starts_with("use-")) return FailKind::use_after_free;
  if (kind.starts_with("race")) return FailKind::race;
  if (kind.starts_with("uninitialized")) return FailKind::uninitialized;
  if (kind.starts_with("barrier") || kind.ends_with("-lane")) return FailKind::barrier;
  if (kind.starts_with("undefined")) return FailKind::undefined;
  return FailKind::fault;
}

Signature signature_of(const Plan& plan, const SanitizerRecord& record) {
  Signature s;
  s.kind = kind_of(record);
  s.target = plan.target;
  s.where = s.kind == FailKind::fault ? record.kind : record.kernel;
  s.buffer = record.buffer;
  if (record.side != Side::unknown) s.side = name_of(record.side);
  // It depends on the schedule which of the two accesses of a race comes second.
  if (record.access != Access::unknown && record.other.empty()) s.access = name_of(record.access);
  return s;
}

// How the trial ended, or "" for a normal end.
std::string end_of(const Observation& o) {
  switch (o.end) {
    case End::hang:
      return "the trial did not end before the deadline";
    case End::exited:
      return "the process ended: " + o.message;
    case End::fault:
      return "the trial ended with " + (o.fault ? o.fault->code : std::string("a fault")) +
             " that the tool did not report";
    default:
      return {};
  }
}

}  // namespace

const SanitizerRecord* worst(const SanitizerReport& report) {
  const SanitizerRecord* found = nullptr;
  for (const auto& record : report.records) {
    if (record.warning) continue;
    if (found == nullptr || more_specific(kind_of(record), kind_of(*found))) found = &record;
  }
  return found;
}

SanitizerOracle::SanitizerOracle(SanitizerTool tool) : tool_(tool), name_(name_of(tool)) {
  RZ_CHECK(tool != SanitizerTool::none);
}

std::vector<TrialSpec> SanitizerOracle::expand(const Plan& plan, const TargetSpec&) const {
  TrialSpec trial;
  trial.mode = plan.mode;
  trial.mode.sanitizer = tool_;
  if (tool_ != SanitizerTool::memcheck && trial.mode.launch == Launch::gated)
    trial.mode.launch = Launch::async;
  if (tool_ == SanitizerTool::initcheck) trial.mode = with_allocator(trial.mode, Allocator::plain);
  return {trial};
}

std::vector<std::string_view> SanitizerOracle::varies() const {
  if (tool_ != SanitizerTool::initcheck) return {};
  return {axis::kPoison};
}

Verdict SanitizerOracle::judge(const Plan& plan, const TargetSpec&,
                               std::span<const Observation> observations) const {
  const Observation& o = observations[0];
  // A record of the tool counts, however the trial ended.
  if (o.sanitizer && o.sanitizer->tool == tool_)
    if (const auto* record = worst(*o.sanitizer))
      return fail(name_, signature_of(plan, *record), record->call, describe(*record));
  if (auto v = cannot_judge(name_, o)) return *v;
  const auto not_judged = [&](Outcome outcome, std::string reason) {
    return Verdict{outcome, std::string(name_), std::move(reason), {}, -1};
  };
  if (const auto how = end_of(o); !how.empty())
    return not_judged(Outcome::inconclusive, fmt::format("under {} {}", name_, how));
  if (!o.sanitizer || o.sanitizer->tool != tool_)
    return not_judged(Outcome::harness_error, fmt::format("the trial did not run under {}", name_));
  if (!o.sanitizer->problem.empty())
    return not_judged(Outcome::harness_error, fmt::format("{}: {}", name_, o.sanitizer->problem));
  return Verdict::pass(std::string(name_));
}

std::vector<TrialSpec> SanitizedScreen::expand(const Plan& plan, const TargetSpec& spec) const {
  auto trials = screen_.expand(plan, spec);
  for (auto& trial : sanitizer_.expand(plan, spec)) trials.push_back(std::move(trial));
  return trials;
}

Verdict SanitizedScreen::judge(const Plan& plan, const TargetSpec& spec,
                               std::span<const Observation> observations) const {
  const std::size_t native = std::min(screen_.expand(plan, spec).size(), observations.size());
  auto verdict = screen_.judge(plan, spec, observations.first(native));
  // Trials after a lost one may be missing.
  if (verdict.failed() || verdict.outcome == Outcome::inconclusive) return verdict;
  if (observations.size() == native)
    return {
        Outcome::inconclusive, std::string(name()), "the trial under the tool was not run", {}, -1,
        verdict.reference};
  auto sanitized = sanitizer_.judge(plan, spec, observations.subspan(native));
  sanitized.reference = verdict.reference;
  // The first verdict that is not a pass; but a failure under the tool always counts.
  return sanitized.failed() || verdict.outcome == Outcome::pass ? sanitized : verdict;
}

}  // namespace redzone::oracles
