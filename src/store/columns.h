// Maps the columns of each table to members, with the conditions that each row must meet. Each
// function serves RowWriter, RowReader and ColumnNames, so that writing and reading cannot
// disagree. Internal to the store.
#pragma once

#include <concepts>
#include <type_traits>

#include "core/campaign_record.h"
#include "core/finding.h"
#include "core/finding_fields.h"
#include "core/plan.h"
#include "core/plan_fields.h"
#include "core/plan_text.h"
#include "core/program_origin.h"
#include "core/target_name.h"
#include "core/trial.h"
#include "core/utc.h"
#include "core/verdict.h"
#include "store/row.h"
#include "store/store.h"

namespace redzone::store {

// U itself, or const U for writing.
template <class T, class U>
concept Of = std::same_as<std::remove_const_t<T>, U>;

// Far above any real count, and small enough that sums do not overflow.
inline constexpr std::int64_t kMostCounted = std::int64_t{1} << 60;
inline constexpr std::int64_t kMostRuns = 1'000'000'000;

template <class... T>
bool are_counts(T... numbers) {
  return ((numbers >= T{} &&
           static_cast<std::uint64_t>(numbers) <= static_cast<std::uint64_t>(kMostCounted)) &&
          ...);
}

// Whether `call` is the index of a call or -1 (no call).
inline bool is_call(std::int32_t call) {
  return call >= -1 && call < static_cast<std::int32_t>(kMaxSteps);
}

// One column for each field of the struct's table, with the field's name.
template <class A, HasFields T>
void field_columns(A& a, T& value) {
  each_field(value, [&](const auto& field, auto& member) { a(field.name, member); });
}

// Omits the origin, which is a document of the finding, so that two files with the same contents
// count as the same code.
template <class A, Of<Environment> E>
void columns(A& a, E& e) {
  each_field(e, [&]<class M>(const auto& field, M& member) {
    if constexpr (!std::is_same_v<std::remove_const_t<M>, TargetOrigin>) a(field.name, member);
  });
}

template <class A, Of<Signature> S>
void columns(A& a, S& s) {
  a("kind", s.kind);
  a("target", s.target);
  a("location", s.where);
  a("buffer", s.buffer);
  a("side", s.side);
  a("access", s.access);
  // Not truncated: a truncated name would be a different name.
  for (const auto* name : {&s.target, &s.where, &s.buffer, &s.side, &s.access})
    a.holds(name->size() <= kMostTextBytes, "a name of its signature is too long");
}

template <class A, Of<Reliability> R>
void columns(A& a, R& r) {
  a("failed_runs", r.k);
  a("runs", r.n);
  a.holds(0 <= r.k && r.k <= r.n && r.n <= kMostRuns, "failed_runs is not in 0..runs");
}

template <class A, Of<Reduction> R>
void columns(A& a, R& r) {
  a("reduction_end", r.end);
  a("reduction_plans", r.plans);
  a("reduction_trials", r.trials);
  a("reduction_seconds", r.seconds);
  a.holds(are_counts(r.plans, r.trials) && r.seconds >= 0, "its reduction has a negative count");
}

// The kind of the finding's origin, and the document that tells how to run it again. The plan of a
// target has its own columns.
template <class A, Of<Finding> F>
void origin_columns(A& a, F& f) {
  OriginKind kind = f.program ? OriginKind::program : OriginKind::target;
  std::string document =
      f.program ? print_origin(*f.program) : print_target_origin(f.environment.origin);
  a("origin", kind);
  a("origin_document", document);
  a("origin_merged", f.origin_merged);
  a.holds(document.size() <= kMostOriginBytes, "the document of its origin is too long");
  if constexpr (!std::is_const_v<F>) {
    if (kind == OriginKind::target) {
      f.program.reset();
      auto target = parse_target_origin(document, "its origin");
      a.holds(target.has_value(), target ? "" : target.error().message);
      f.environment.origin = *std::move(target);
      return;
    }
    auto origin = parse_origin(document, "its origin");
    a.holds(origin.has_value(), origin ? "" : origin.error().message);
    f.program = *std::move(origin);
  }
}

// The members that confirming, attributing and reducing change. For a program a later run changes
// them.
template <class A, Of<Finding> F>
void judged_columns(A& a, F& f) {
  a("state", f.state);
  a("oracle", f.oracle);
  a("reason", f.reason);
  a("minimal", f.minimal);
  columns(a, f.reduction);
  a("needs_history", f.needs_history);
  columns(a, f.reliability);
  a("fault_detail", f.fault_detail);
  origin_columns(a, f);
}

// Where, when and how often the finding occurred.
template <class A, Of<Finding> F>
void seen_columns(A& a, F& f) {
  a("plans_to_first", f.plans_to_first);
  a("seconds_to_first", f.seconds_to_first);
  a("occurrences", f.occurrences);
  a("first_seen", f.first_seen);
  a("last_seen", f.last_seen);
  a.holds(are_counts(f.plans_to_first, f.occurrences) && f.seconds_to_first >= 0,
          "its number of occurrences is negative");
}

template <class A, Of<Finding> F>
void columns(A& a, F& f) {
  columns(a, f.signature);
  a.holds(is_target_name(f.signature.target), "its target is not of [a-z0-9_.]+");
  judged_columns(a, f);
  seen_columns(a, f);
}

template <class A, Of<AttributionRow> R>
void columns(A& a, R& r) {
  a("axis", r.axis);
  a("value", r.value);
  columns(a, r.failed);
}

template <class A, Of<Attribution> T>
void columns(A& a, T& t) {
  field_columns(a, t);
  a.holds(is_call(t.call), "its call number is impossible");
}

template <class A, Of<ReferenceCount> R>
void columns(A& a, R& r) {
  a("reference_compared", r.compared);
  a("reference_calls", r.calls);
  a("reference_sampled", r.sampled);
  a.holds(are_counts(r.compared, r.calls) && r.compared <= r.calls,
          "more calls were compared with the reference than there were");
  a.holds(are_counts(r.sampled) && r.sampled <= r.compared,
          "more calls were compared in samples than were compared");
}

template <class A, Of<CampaignStats> C>
void columns(A& a, C& c) {
  a("seconds", c.seconds);
  a("plans", c.plans);
  a("calls", c.calls);
  a("trials", c.trials);
  a("pass", c.pass);
  a("fail", c.fail);
  a("inconclusive", c.inconclusive);
  a("not_applicable", c.not_applicable);
  a("harness_errors", c.harness_errors);
  a("suspects", c.suspects);
  a("new_findings", c.new_findings);
  a("known_findings", c.known_findings);
  a("workers_lost", c.workers_lost);
  columns(a, c.reference);
  a.holds(
      are_counts(c.plans, c.calls, c.trials, c.pass, c.fail, c.inconclusive, c.not_applicable,
                 c.harness_errors, c.suspects, c.new_findings, c.known_findings, c.workers_lost) &&
          c.seconds >= 0,
      "it has a negative count");
}

template <class A, Of<CampaignRecord> C>
void columns(A& a, C& c) {
  a("uid", c.uid);
  a("seed", c.seed);
  a("device", c.device);
  a("command", c.command);
  a("started", c.started);
  a("ended", c.ended);
  columns(a, c.stats);
}

template <class A, Of<LedgerEntry> E>
void columns(A& a, E& e) {
  a("at", e.at);
  a("event", e.event);
  a("link", e.link);
  a("note", e.note);
  a.holds(is_utc_time(e.at), "an entry has no valid time");
}

template <class A, Of<Mode> M>
void columns(A& a, M& m) {
  each_field(m, [&]<class F>(const auto& field, F& member) {
    if constexpr (std::is_same_v<std::remove_const_t<F>, PoolPolicy>)
      field_columns(a, member);
    else
      a(field.name, member);
  });
}

template <class A, Of<Verdict> V>
void columns(A& a, V& v) {
  a("outcome", v.outcome);
  a("oracle", v.oracle);
  a("reason", v.reason);
  columns(a, v.signature);
  a("call", v.call);
  a.holds(is_call(v.call), "its call number is impossible");
}

// A trial without its plan, its order and its observation.
template <class A, Of<TrialRecord> T>
void columns(A& a, T& t) {
  a("purpose", t.purpose);
  a("recorded", t.recorded);
  columns(a, t.spec.mode);
  a("reference", t.spec.reference);
  columns(a, t.verdict);
}

}  // namespace redzone::store
