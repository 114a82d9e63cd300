
#include "report/json_parts.h"
#include "report/night_formats.h"

namespace redzone::report {
namespace {

// Every standing has a key, so that readers need no list of the possible ones.
Json standing_counts(const StandingCounts& counts) {
  Json json = Json::object();
  for (const auto standing : {Standing::fresh, Standing::known, Standing::fixed,
                              Standing::regressed, Standing::quarantined}) {
    const auto it = counts.find(standing);
    json[std::string(name_of(standing))] = it == counts.end() ? 0 : it->second;
  }
  return json;
}

Json night_table(const NightTable& t) {
  return {{"title", t.title}, {"columns", t.columns}, {"rows", t.rows}};
}

Json night_finding(const NightFinding& f) {
  return {
      {"id", f.id},
      {"signature",
       {{"text", f.signature},
        {"hash", f.signature_hash},
        {"kind", f.kind},
        {"target", f.target},
        {"where", f.where},
        {"buffer", f.buffer},
        {"side", f.side},
        {"access", f.access}}},
      {"confidence", f.confidence},
      {"ledger",
       {{"standing", name_of(f.ledger.standing)},
        {"link", f.ledger.link},
        {"note", f.ledger.note},
        {"since", f.ledger.since}}},
      {"before", f.before ? Json(name_of(*f.before)) : Json()},
      {"tonight", name_of(f.outcome)},
      {"alarm", is_alarm(f)},
      {"k", f.k},
      {"n", f.n},
      {"occurrences", f.occurrences},
      {"outcome_reason", f.outcome_reason},
      {"reason", f.reason},
      {"oracle", f.oracle},
      {"reliability", {{"k", f.reliable_k}, {"n", f.reliable_n}}},
      {"calls", f.calls},
      {"minimal", f.minimal},
      {"plan", f.plan},
      {"program", f.program},
      {"attribution", list(f.attribution,
                           [](const NightAttribution& a) -> Json {
                             return {{"axis", a.axis}, {"value", a.value}, {"k", a.k}, {"n", a.n}};
                           })},
      {"culprits", f.fault_attributions},
      {"fault", f.fault},
      {"device", f.device},
      {"driver", f.driver},
      {"toolkit", f.toolkit},
      {"code_hash", f.code_hash},
      {"first_seen", f.first_seen},
      {"last_seen", f.last_seen},
      {"replay", f.replay},
      {"tables", list(f.tables, night_table)}};
}

Json plan(const NightPlan& p) {
  return {{"file", p.file},
          {"target", p.target},
          {"expected", p.expected},
          {"tonight", name_of(p.outcome)},
          {"alarm", is_alarm(p)},
          {"k", p.k},
          {"n", p.n},
          {"reason", p.reason},
          {"finding", p.finding ? Json(*p.finding) : Json()},
          {"replay", p.replay}};
}

Json reference_count(const ReferenceCount& r) {
  return {{"compared_calls", r.compared}, {"sampled_calls", r.sampled}, {"calls", r.calls}};
}

Json night_target(const NightTarget& t) {
  return {{"name", t.name},
          {"plans", t.plans},
          {"calls", t.calls},
          {"device_seconds", t.device_seconds},
          {"share", t.share},
          {"pass", t.pass},
          {"fail", t.fail},
          {"inconclusive", t.inconclusive},
          {"not_applicable", t.not_applicable},
          {"harness_errors", t.harness_errors},
          {"findings", standing_counts(t.findings)},
          {"not_fuzzed", t.not_fuzzed},
          {"reference", reference_count(t.reference)},
          {"not_compared", t.not_compared},
          {"outputs",
           {{"by_digests", t.outputs.by_digests},
            {"by_nothing", t.outputs.by_nothing},
            {"why", t.not_judged}}},
          {"spec_error", t.spec_error}};
}

Json trend(const NightTrend& t) {
  return {{"campaign", t.campaign},
          {"started", t.started},
          {"plans", t.plans},
          {"calls", t.calls},
          {"findings", standing_counts(t.findings)},
          {"device_seconds", t.device_seconds},
          {"exit_code", t.exit_code ? Json(*t.exit_code) : Json()}};
}

Json part(const NightPart& p) {
  return {{"campaign", p.campaign},
          {"shard", p.shard},
          {"device", p.device},
          {"host", p.host},
          {"started", p.started},
          {"ended", p.ended},
          {"exit_code", p.exit_code ? Json(*p.exit_code) : Json()}};
}

}  // namespace

std::string night_json(const Night& n) {
  const Json json = {{"version", kNightJsonVersion},
                     {"night",
                      {{"campaign", n.campaign},
                       {"tool_version", n.tool_version},
                       {"command", n.command},
                       {"commit", n.commit},
                       {"device", n.device},
                       {"driver", n.driver},
                       {"toolkit", n.toolkit},
                       {"host", n.host},
                       {"seed", n.seed},
                       {"shard", n.shard},
                       {"shards", n.shards},
                       {"parts", list(n.parts, part)},
                       {"started", n.started},
                       {"ended", n.ended},
                       {"budget_seconds", n.budget_seconds},
                       {"self_proof_seconds", n.self_proof_seconds},
                       {"replay_seconds", n.replay_seconds},
                       {"fuzz_seconds", n.fuzz_seconds},
                       {"planted_bugs_caught", n.planted_bugs_caught},
                       {"resumed", n.resumed},
                       {"plans", n.plans},
                       {"calls", n.calls},
                       {"trials", n.trials},
                       {"pass", n.pass},
                       {"fail", n.fail},
                       {"inconclusive", n.inconclusive},
                       {"not_applicable", n.not_applicable},
                       {"harness_errors", n.harness_errors},
                       {"reference", reference_count(n.reference)},
                       {"workers_lost", n.workers_lost},
                       {"findings", list(n.findings, night_finding)},
                       {"corpus", list(n.corpus, plan)},
                       {"targets", list(n.targets, night_target)},
                       {"not_judged", list(n.not_judged,
                                           [](const NightGap& gap) -> Json {
                                             return {{"what", gap.what}, {"why", gap.why}};
                                           })},
                       {"trend", list(n.trend, trend)},
                       {"problem", n.problem},
                       {"exit_code", n.exit_code}}}};
  return print(json);
}

}  // namespace redzone::report
