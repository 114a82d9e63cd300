#include <nlohmann/json.hpp>

#include "bench/report.h"

namespace redzone::bench {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json optional(const std::optional<T>& v) {
  return v ? Json(*v) : Json();
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json column_json(const Column& c) {
  const Tally sum = c.sum();
  Json rounds = Json::array();
  for (const auto& round : c.rounds) rounds.push_back(round.calls_per_s());
  const auto per_trial = [&]() -> Json {
    if (sum.trials == 0) return {};
    return static_cast<double>(sum.mapping_calls) / static_cast<double>(sum.trials);
  };
  return {{"name", c.name},
          {"what", c.what},
          {"workers", c.workers},
          {"calls_per_s", optional(c.calls_per_s())},
          {"calls_per_s_of_rounds", rounds},
          {"plans", sum.plans},
          {"trials", sum.trials},
          {"calls", sum.calls},
          {"seconds", sum.seconds},
          {"mapping_calls_per_trial", per_trial()},
          {"calls_with_reference", sum.comparable},
          {"calls_compared", sum.compared},
          {"calls_compared_in_samples", sum.sampled},
          {"why_not", text_or_null(c.why_not)}};
}

Json phases_json(const PhaseColumn& c) {
  Json phases;
  const auto trials = static_cast<double>(c.trials);
  for (const auto& p : c.phases) {
    if (p.times == 0) continue;
    phases[p.name] = {{"us_per_trial", p.us / trials},
                      {"times_per_trial", static_cast<double>(p.times) / trials}};
  }
  return {{"column", c.column},
          {"trials", c.trials},
          {"calls_per_trial", static_cast<double>(c.calls) / trials},
          {"us_per_trial", c.us_per_trial()},
          {"phases", phases}};
}

Json throughput(const Throughput& t) {
  Json columns = Json::array();
  for (const auto& c : t.columns) columns.push_back(column_json(c));
  Json phases = Json::array();
  for (const auto& c : t.phases) phases.push_back(phases_json(c));
  Json ratios;
  for (const auto& r : kRatios) ratios[r.name] = optional(t.ratio(r.of, r.to));
  return {{"workload", t.workload},
          {"what", t.what},
          {"plans", t.plans},
          {"plans_hash", t.plans_hash},
          {"generate_us_per_plan", t.generate_us},
          {"columns", columns},
          {"ratios", ratios},
          {"phases", phases},
          {"why_no_phases", text_or_null(t.why_no_phases)}};
}

Json detection(const Detection& d) {
  Json out = {{"puzzle", d.puzzle}, {"seed", d.seed}, {"found", d.found}};
  if (!d.found) {
    out["why_not"] = d.why_not;
    return out;
  }
  out["kind"] = d.kind;
  out["signature"] = d.signature;
  out["plans_to_first"] = d.plans_to_first;
  out["seconds_to_first"] = d.seconds_to_first;
  out["seconds_to_reduced"] = d.seconds_to_reduced;
  out["reduced_calls"] = d.calls;
  out["minimal"] = d.minimal;
  return out;
}

Json fault_samples(const FaultSamples& s) {
  return {{"faults", s.wait_ms.size()},
          {"trial_ms", median(s.trial_ms)},
          {"wait_ms", median(s.wait_ms)},
          {"next_result_ms", median(s.next_ms)}};
}

Json fault_cost(const FaultCost& f) {
  return {{"puzzle", f.puzzle},
          {"with_spare", fault_samples(f.with_spare)},
          {"without_spare", fault_samples(f.without_spare)},
          {"why_not", text_or_null(f.why_not)}};
}

Json mode_cell(const ModeCell& c) {
  return {{"ran", c.ran},
          {"detected", c.detected},
          {"rate", c.ran > 0 ? Json(static_cast<double>(c.detected) / static_cast<double>(c.ran))
                             : Json(nullptr)},
          {"seconds", c.seconds},
          {"seconds_to_first", c.seconds_to_first ? Json(*c.seconds_to_first) : Json(nullptr)},
          {"plans_to_first", c.plans_to_first ? Json(*c.plans_to_first) : Json(nullptr)},
          {"why_not", text_or_null(c.why_not)}};
}

// The JSON of a ModeTable or a LauncherTable without its rows.
template <class T>
Json table_head(const T& t) {
  Json out = {{"plans", t.plans}, {"columns", Json::array()}, {"rows", Json::array()}};
  for (const auto& c : t.columns) out["columns"].push_back({{"name", c.name}, {"what", c.what}});
  return out;
}

Json table_row(const std::string& puzzle, const std::vector<ModeColumn>& columns,
               const std::vector<ModeCell>& cells) {
  Json row = {{"puzzle", puzzle}};
  for (std::size_t i = 0; i < cells.size(); ++i) row[columns[i].name] = mode_cell(cells[i]);
  return row;
}

Json mode_table(const ModeTable& t) {
  Json out = table_head(t);
  for (const auto& r : t.rows) out["rows"].push_back(table_row(r.puzzle, t.columns, r.cells));
  return out;
}

Json launcher_table(const LauncherTable& t) {
  Json out = table_head(t);
  for (const auto& r : t.rows) {
    Json row = table_row(r.puzzle, t.columns, r.cells);
    row["reduced_none"] = detection(r.none);
    row["reduced_native"] = detection(r.native);
    out["rows"].push_back(std::move(row));
  }
  out["correct"] = Json::array();
  for (const auto& c : t.correct)
    out["correct"].push_back({{"target", c.target},
                              {"calls", c.calls},
                              {"wanted_calls", c.wanted_calls},
                              {"plans", c.plans},
                              {"settings", c.settings},
                              {"suspects", c.suspects},
                              {"seconds", c.seconds},
                              {"why_not", text_or_null(c.why_not)}});
  return out;
}

Json tma(const TmaReport& t) {
  const DescriptorRates& d = t.descriptors;
  Json length_one = Json::array();
  for (const auto& found : t.length_one) length_one.push_back(detection(found));
  return {{"descriptors", d.descriptors},
          {"checker_per_s", d.checker_per_s},
          {"driver_per_s", optional(d.driver_per_s)},
          {"disagreements", d.driver_per_s ? Json(d.disagreed) : Json()},
          {"why_no_driver", text_or_null(d.why_no_driver)},
          {"length_one", length_one},
          {"ragged_prefill", t.ragged ? throughput(*t.ragged) : Json()}};
}

Json minute(const Minute& m) {
  Json puzzles = Json::array();
  for (const auto& p : m.puzzles)
    puzzles.push_back({{"puzzle", p.puzzle},
                       {"plans", p.plans},
                       {"parts", p.parts},
                       {"confirmed_s", optional(p.confirmed_s)},
                       {"minimal_s", optional(p.minimal_s)}});
  Json kernels = Json::array();
  for (const auto& k : m.share.kernels)
    kernels.push_back({{"kernel", k.kernel},
                       {"alone_plans_per_s", k.alone_plans_per_s},
                       {"beside_plans_per_s", k.beside_plans_per_s}});
  return {{"startup_s", m.startup_s},
          {"seconds", m.seconds},
          {"plans", m.plans},
          {"workers_lost", m.workers_lost},
          {"confirmed", m.confirmed()},
          {"minimal", m.minimal()},
          {"first_confirmed_s", optional(m.first_confirmed_s())},
          {"of_parts", kMinuteParts},
          {"puzzles", puzzles},
          {"kernels",
           {{"faulting", m.share.faulting},
            {"rates", kernels},
            {"share", optional(m.share.share())},
            {"why_not", text_or_null(m.share.why_not)}}}};
}

Json python(const PythonCalls& p) {
  Json targets = Json::array();
  for (const auto& t : p.targets) targets.push_back(throughput(t));
  return {{"made_by", p.made_by},
          {"targets", targets},
          {"fault_cost", fault_cost(p.fault_cost)},
          {"why_not", text_or_null(p.why_not)}};
}

Json guard_cell(const GuardCell& c) {
  const auto middle = [](const std::vector<double>& values) {
    return values.empty() ? Json() : Json(median(values));
  };
  return {{"us", middle(c.us)},
          {"peak_mib", middle(c.peak_mib)},
          {"us_of_runs", c.us},
          {"peak_mib_of_runs", c.peak_mib},
          {"why_not", text_or_null(c.why_not)}};
}

// guard_cost_file.cpp parses this format.
Json guard_cost(const GuardCost& g) {
  Json out = {{"runs", g.runs}, {"columns", Json::array()}, {"rows", Json::array()}};
  for (const auto& c : g.columns) out["columns"].push_back({{"name", c.name}, {"what", c.what}});
  for (const auto& r : g.rows) {
    Json row = {{"program", r.program}, {"what", r.what}, {"unit", r.unit}, {"with", r.with}};
    for (std::size_t i = 0; i < r.cells.size(); ++i)
      row[g.columns[i].name] = guard_cell(r.cells[i]);
    row["bare_to_plain"] = optional(g.ratio(r, kGuardBare, kPlain));
    row["guard_to_plain"] = optional(g.ratio(r, kGuardFull, kPlain));
    row["memcheck_to_guard"] = optional(g.ratio(r, kMemcheck, kGuardFull));
    out["rows"].push_back(std::move(row));
  }
  out["why_not"] = text_or_null(g.why_not);
  return out;
}

}  // namespace

std::string report_json(const Report& r) {
  Json json = {{"version", 1},
               {"device", r.environment.device},
               {"kind", r.kind},
               {"driver", r.environment.driver},
               {"compute_capability", r.environment.compute_capability},
               {"toolkit", r.environment.toolkit},
               {"nvrtc", r.environment.nvrtc},
               {"host", r.environment.host},
               {"redzone_version", r.environment.redzone_version},
               {"commit", r.commit},
               {"date", r.date},
               {"command", r.command},
               {"quick", r.quick},
               {"interrupted", r.interrupted},
               {"cores", r.cores},
               {"load_average", r.load_average},
               {"seconds", r.seconds}};
  json["throughput"] = Json::array();
  for (const auto& t : r.throughput) json["throughput"].push_back(throughput(t));
  json["detection"] = Json::array();
  for (const auto& d : r.detection) json["detection"].push_back(detection(d));
  json["fault_cost"] = fault_cost(r.fault_cost);
  json["modes"] = mode_table(r.modes);
  json["launchers"] = launcher_table(r.launchers);
  json["tma"] = r.tma ? tma(*r.tma) : Json();
  json["minute"] = r.minute ? minute(*r.minute) : Json();
  json["python"] = r.python ? python(*r.python) : Json();
  json["guard"] = r.guard ? guard_cost(*r.guard) : Json();
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace redzone::bench
