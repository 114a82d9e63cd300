#include "bisect/explain.h"
#include "core/plan_text.h"
#include "report/bisect.h"
#include "report/bisect_runs.h"
#include "report/json_parts.h"

namespace redzone::report {
namespace {

Json maybe(const std::optional<bool>& value) {
  return value ? Json(*value) : Json();
}

Json other_launch_json(const bisect::Tried& t) {
  if (!t.other_launch) return {};
  return {{"launch", t.other_launch->launch}, {"runs", runs_json(t.other_launch->probe.counts)}};
}

Json other_seeds_json(const bisect::Tried& t) {
  if (!t.other_data) return {};
  return {{"failing", t.other_data->failing}, {"tried", t.other_data->tried}};
}

Json other_schedule_json(const bisect::Tried& t) {
  if (!t.other_schedule) return {};
  return {{"seed", t.other_schedule->seed}, {"runs", runs_json(t.other_schedule->probe.counts)}};
}

Json tried(const bisect::Tried& t) {
  return {{"value", t.value},
          {"answer", t.probe.answer_text()},
          {"plan_hash", plan_hash(t.plan)},
          {"runs", runs_json(t.probe.counts)},
          {"other_data", t.other_data ? runs_json(t.other_data->probe.counts) : Json()},
          {"other_data_seeds", other_seeds_json(t)},
          {"other_launch", other_launch_json(t)},
          {"other_schedule", other_schedule_json(t)}};
}

Json row_json(const bisect::Row& r) {
  Json values = Json::array();
  for (const auto& t : r.tried) values.push_back(tried(t));
  return {{"kind", name_of(r.kind)},
          {"setting", r.axis},
          {"value", r.value},
          {"verdict", name_of(r.relevance())},
          {"necessary", maybe(r.necessary)},
          {"sufficient", maybe(r.sufficient)},
          {"or_else", r.or_else},
          {"decides_with", r.decides_with},
          {"by_oracle", r.by_oracle},
          {"tried", values}};
}

Json change_json(const bisect::ChangeSet& set) {
  return {{"settings", set.settings},
          {"answer", set.probe.answer_text()},
          {"plan", print_plan(set.plan)},
          {"plan_hash", plan_hash(set.plan)},
          {"runs", runs_json(set.probe.counts)}};
}

}  // namespace

std::string bisection_json(const Finding& finding, const bisect::Bisection& b) {
  Json rows = Json::array(), combinations = Json::array(), statements = Json::array();
  for (const auto& r : b.rows) rows.push_back(row_json(r));
  for (const auto& set : b.combinations) combinations.push_back(change_json(set));
  for (const auto& s : explain(b))
    statements.push_back({{"text", s.text},
                          {"verdict", name_of(s.relevance)},
                          {"fails", runs_json(s.fails)},
                          {"passes", runs_json(s.passes)}});
  const Json json{{"finding", finding.id},
                  {"signature", finding.signature.text()},
                  {"base", runs_json(b.base.counts)},
                  {"sentence", sentence(b)},
                  {"background", b.background.empty() ? Json() : Json(b.background)},
                  {"complete", b.complete},
                  {"runs_made", b.runs},
                  {"rows", rows},
                  {"go", b.go ? change_json(*b.go) : Json()},
                  {"come", b.come ? change_json(*b.come) : Json()},
                  {"combinations", combinations},
                  {"explain", statements}};
  return print(json);
}

}  // namespace redzone::report
