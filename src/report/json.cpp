#include "report/json.h"

#include "core/campaign_record.h"
#include "core/field_json.h"
#include "core/finding_fields.h"
#include "core/observation_fields.h"
#include "core/plan_text.h"
#include "report/format.h"
#include "report/json_parts.h"
#include "report/names.h"
#include "report/needs.h"
#include "report/tensors.h"
#include "report/text.h"
#include "statistics/interval.h"

namespace redzone::report {
namespace {

Json value(const Value& v) {
  return std::visit([](const auto& x) { return Json(x); }, v);
}

Json signature(const Signature& s) {
  return {{"text", s.text()},   {"hash", s.hash()},  {"kind", name_of(s.kind)},
          {"target", s.target}, {"where", s.where},  {"buffer", s.buffer},
          {"side", s.side},     {"access", s.access}};
}

// For a number of runs that was fixed in advance: the final measurement of a finding, or --runs of
// a replay.
Json reliability(const Reliability& r) {
  const auto i = statistics::exact_interval(r.k, r.n);
  return {{"k", r.k}, {"n", r.n}, {"low", i.low}, {"high", i.high}};
}

// For any runs. Without an interval, because the number of runs depends on their results.
Json reliability_counts(const Reliability& r) {
  return {{"k", r.k}, {"n", r.n}};
}

Json finding_object(const Finding& f, std::string_view db) {
  return {
      {"id", f.id},
      {"state", name_of(f.state)},
      {"ledger",
       {{"standing", name_of(f.ledger.standing)},
        {"link", f.ledger.link},
        {"note", f.ledger.note},
        {"since", f.ledger.since}}},
      {"signature", signature(f.signature)},
      {"oracle", f.oracle},
      {"reason", f.reason},
      {"reliability", f.program ? reliability_counts(f.reliability) : reliability(f.reliability)},
      {"calls", call_count(f.plan)},
      {"minimal", f.minimal},
      {"reduction",
       {{"end", name_of(f.reduction.end)},
        {"text", text_of(f.reduction)},
        {"plans", f.reduction.plans},
        {"trials", f.reduction.trials},
        {"seconds", f.reduction.seconds}}},
      {"needs_history", f.needs_history},
      {"needs", needs_of(f)},
      {"program", f.program ? Json(FieldJson::of(*f.program, Defaults::written)) : Json()},
      {"plan", f.program ? Json() : Json(print_plan(f.plan))},
      {"plan_hash", f.program ? Json() : Json(plan_hash(f.plan))},
      {"original_plan", f.program ? Json() : Json(print_plan(f.original))},
      {"attribution", list(f.attribution,
                           [](const AttributionRow& row) -> Json {
                             return {{"axis", row.axis},
                                     {"value", row.value},
                                     {"failed", reliability_counts(row.failed)}};
                           })},
      {"culprits", FieldJson::of(f.fault_attributions, Defaults::written)},
      {"fault_detail", f.fault_detail},
      {"environment", FieldJson::of(f.environment, Defaults::written)},
      {"campaign", f.campaign == 0 ? Json() : Json(f.campaign)},
      {"plans_to_first", f.plans_to_first},
      {"seconds_to_first", f.seconds_to_first},
      {"occurrences", f.occurrences},
      {"first_seen", f.first_seen},
      {"last_seen", f.last_seen},
      {"replay", replay_command(f, db)}};
}

Json finding_objects(std::span<const Finding> all, std::string_view db) {
  return list(all, [&](const Finding& f) { return finding_object(f, db); });
}

Json device(const TargetDevice& d) {
  return {{"device", d.device},
          {"runs_here", d.runs_here},
          {"why_not", d.why_not},
          {"plugin", d.plugin},
          {"code_hash", d.code_hash}};
}

Json dim(const DimSpec& d) {
  return {{"name", d.name},     {"min", d.min},   {"max", d.max}, {"multiple_of", d.multiple_of},
          {"values", d.values}, {"tile", d.tile}, {"doc", d.doc}};
}

Json tensor(const TensorSpec& t) {
  return {{"name", t.name},
          {"role", t.role_of ? Json() : Json(name_of(t.role))},
          {"dtype", t.dtype_of ? Json() : Json(name_of(t.dtype))},
          {"layouts", layouts_of(t.layouts)},
          {"align_bytes", t.promised_align_bytes()},
          {"counted_by", t.counted_by ? Json(t.counted_by->tensor) : Json()}};
}

Json knob(const KnobSpec& k) {
  return {
      {"name", k.name}, {"values", list(k.values, value)}, {"drawn", k.draws()}, {"doc", k.doc}};
}

Json target_object(const TargetInfo& t) {
  const TargetSpec& s = t.spec;
  return {{"name", s.name},
          {"category", name_of(s.category)},
          {"doc", s.doc},
          {"deterministic", s.deterministic},
          {"alignment_changes_bits", s.alignment_changes_bits},
          {"remembers_addresses", s.remembers_addresses},
          {"has_reference", s.has_reference},
          {"devices", list(t.devices, device)},
          {"dims", list(s.dims, dim)},
          {"constraints", list(s.constraints, [](const Constraint& c) { return c.text; })},
          {"tensors", list(s.tensors, tensor)},
          {"knobs", list(s.knobs, knob)}};
}

Json run(const ReplayRun& r) {
  const Verdict& v = r.verdict;
  return {{"end", name_of(r.end)},
          {"outcome", name_of(v.outcome)},
          {"oracle", v.oracle},
          {"reason", v.reason},
          {"signature", v.failed() ? signature(v.signature) : Json()},
          {"call", v.call},
          {"result", name_of(r.result)},
          {"as_recorded", r.result == RunResult::recorded},
          {"reference",
           {{"compared_calls", v.reference.compared},
            {"sampled_calls", v.reference.sampled},
            {"calls", v.reference.calls}}},
          {"wall_us", r.wall_us},
          {"sanitizer", FieldJson::of(r.sanitizer, Defaults::written)}};
}

Json unjudged(const Unjudged& u) {
  return {{"target", u.target},
          {"verdict", name_of(u.outcome)},
          {"reason", u.reason},
          {"plans", u.plans},
          {"spec_error", u.spec_error}};
}

Json warnings(const ToolWarnings& warnings) {
  Json out = Json::array();
  for (const ToolWarning& w : warnings.seen())
    out.push_back({{"tool", name_of(w.tool)}, {"what", w.what}, {"plans", w.reports}});
  return out;
}

Json judged(const Judged& j) {
  return {{"target", j.target},
          {"outputs",
           {{"by_digests", j.outputs.by_digests},
            {"by_nothing", j.outputs.by_nothing},
            {"why", j.not_judged}}},
          {"out_of_reach", j.out_of_reach},
          {"refused_calls", j.refused_calls},
          {"why_refused", j.why_refused},
          {"hung_calls", j.hung_calls},
          {"between_canaries", j.between_canaries},
          {"own_memory", FieldJson::of(j.own_memory, Defaults::written)},
          {"warnings", warnings(j.warnings)},
          {"plans_with_other_warnings", j.warnings.others()}};
}

Json compared(const Compared& c) {
  return {{"target", c.target},
          {"compared_calls", c.reference.compared},
          {"sampled_calls", c.reference.sampled},
          {"calls", c.reference.calls},
          {"not_compared", c.not_compared}};
}

}  // namespace

std::string targets_json(std::span<const TargetInfo> targets) {
  return print({{"targets", list(targets, target_object)}});
}

std::string findings_json(std::span<const Finding> all, std::string_view db) {
  return print({{"findings", finding_objects(all, db)}});
}

std::string finding_json(const Finding& f, std::string_view db, std::span<const Artifact> artifacts,
                         const std::vector<PlanTensor>* tensors) {
  Json json = finding_object(f, db);
  if (tensors != nullptr) json["tensors"] = tensors_json(*tensors);
  json["logs"] = Json::array();
  for (const auto& a : artifacts)
    if (a.kind == "log")
      json["logs"].push_back({{"name", a.name}, {"added", a.added}, {"text", a.bytes}});
  return print(json);
}

std::string campaign_json(const CampaignRecord& c, std::span<const Finding> found,
                          const SelfProof& proof, std::string_view db, const Scope& scope) {
  const CampaignStats& s = c.stats;
  return print({{"campaign",
                 {{"id", c.id},
                  {"seed", c.seed},
                  {"device", c.device},
                  {"command", c.command},
                  {"started", c.started},
                  {"ended", c.ended},
                  {"seconds", s.seconds},
                  {"plans", s.plans},
                  {"plans_per_s", per_second(s.plans, s.seconds)},
                  {"calls", s.calls},
                  {"calls_per_s", per_second(s.calls, s.seconds)},
                  {"trials", s.trials},
                  {"workers_lost", s.workers_lost}}},
                {"verdicts",
                 {{"pass", s.pass},
                  {"fail", s.fail},
                  {"inconclusive", s.inconclusive},
                  {"not_applicable", s.not_applicable},
                  {"harness_error", s.harness_errors}}},
                {"suspects", s.suspects},
                {"new_findings", s.new_findings},
                {"known_findings", s.known_findings},
                {"judged_by", scope.judged},
                {"not_judged_by", scope.not_judged},
                {"unjudged", list(scope.unjudged, unjudged)},
                {"reference",
                 {{"compared_calls", s.reference.compared},
                  {"sampled_calls", s.reference.sampled},
                  {"calls", s.reference.calls},
                  {"targets", list(scope.compared, compared)}}},
                {"targets", list(scope.targets, judged)},
                {"slow_functions", scope.slow_functions},
                {"self_proof", {{"planted_bugs_caught", proof.caught}, {"ms", proof.took.count()}}},
                {"findings", finding_objects(found, db)}});
}

std::string replay_json(const ReplayResult& result) {
  return print({{"subject", result.subject},
                {"expected", result.expected ? signature(*result.expected) : Json()},
                {"reliability", reliability(result.reliability())},
                {"other_finding", result.other_finding ? Json(*result.other_finding) : Json()},
                {"runs", list(result.runs, run)}});
}

}  // namespace redzone::report
