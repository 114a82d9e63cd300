#include "store/evidence_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "core/observation_check.h"
#include "core/utc.h"
#include "store/columns.h"
#include "store/finding_table.h"
#include "store/observation_json.h"
#include "store/row.h"

namespace redzone::store {
namespace {

// Order of the calls as text: "" as written, "2 0 1" for a permutation, kPlainGraphs without
// graphs.
constexpr std::string_view kPlainGraphs = "plain-graphs";

std::string print_order(const TrialSpec& spec) {
  if (spec.plain_graphs) return std::string(kPlainGraphs);
  return fmt::format("{}", fmt::join(spec.order, " "));
}

std::vector<std::uint32_t> parse_order(std::string_view text, const std::string& where) {
  std::vector<std::uint32_t> order;
  while (!text.empty()) {
    std::uint32_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error != std::errc{}) unsound_row(where, fmt::format("its call order is '{}'", text));
    order.push_back(index);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with(' ')) text.remove_prefix(1);
  }
  return order;
}

// Observations and verdict must refer to calls of the trial's plan.
std::optional<std::string> trial_problem(const TrialRecord& trial) {
  const std::size_t calls = calls_of(trial.plan).size();
  for (const auto index : trial.spec.order)
    if (index >= calls) return "its order names a call that its plan does not have";
  return observation_problem(trial.observation, calls);
}

// Truncates the observation: a plan may have thousands of calls; only those around the failing call
// are kept.
Observation around(const Observation& whole, std::int32_t call) {
  Observation kept = whole;
  const std::size_t limit = Store::kCallsPerTrial;
  if (kept.calls.size() <= limit) return kept;
  std::size_t pivot = kept.calls.size();
  for (std::size_t i = 0; i < kept.calls.size(); ++i)
    if (kept.calls[i].call == call) pivot = i;
  const std::size_t half = limit / 2;
  const std::size_t first =
      std::min(pivot > half ? pivot - half : std::size_t{0}, kept.calls.size() - limit);
  const auto begin = whole.calls.begin() + static_cast<std::ptrdiff_t>(first);
  kept.calls.assign(begin, begin + static_cast<std::ptrdiff_t>(limit));
  return kept;
}

}  // namespace

void insert_trial(SQLite::Database& sql, std::int64_t finding, const TrialRecord& trial) {
  if (const auto problem = trial_problem(trial)) refuse_row("a new trial", *problem);
  RowWriter row;
  row("finding_id", finding);
  columns(row, trial);
  row("plan_id", plan_row(sql, trial.plan));
  row("call_order", print_order(trial.spec));
  row("end_of_trial", trial.observation.end);
  row("wall_us", trial.observation.wall_us);
  row.document("observation", print_observation(around(trial.observation, trial.verdict.call)));
  row.insert(sql, "trials");
}

void prune_trials(SQLite::Database& sql, std::int64_t finding, std::size_t keep) {
  SQLite::Statement prune(sql,
                          "DELETE FROM trials WHERE finding_id = ?1 AND id NOT IN (SELECT id FROM "
                          "trials WHERE finding_id = ?1 ORDER BY id DESC LIMIT ?2)");
  prune.bind(1, finding);
  prune.bind(2, static_cast<std::int64_t>(keep));
  if (prune.exec() > 0) drop_unused_plans(sql);
}

std::vector<TrialRecord> read_trials(SQLite::Database& sql, std::int64_t finding) {
  SQLite::Statement query(sql, fmt::format("SELECT t.id, p.text, t.call_order, t.observation, {} "
                                           "FROM trials t LEFT JOIN plans p ON p.id = t.plan_id "
                                           "WHERE t.finding_id = ? ORDER BY t.id",
                                           column_list<TrialRecord>("t")));
  query.bind(1, finding);
  std::vector<TrialRecord> trials;
  while (query.executeStep()) {
    RowReader reader(query, fmt::format("a trial of finding {}", finding));
    TrialRecord& trial = trials.emplace_back();
    trial.id = reader.integer();
    const std::string where = fmt::format("trial {} of finding {}", trial.id, finding);
    reader.is(where);
    trial.plan = stored_plan(reader.document(), where);
    const std::string order = reader.text();
    trial.spec.plain_graphs = order == kPlainGraphs;
    if (!trial.spec.plain_graphs) trial.spec.order = parse_order(order, where);
    Result<Observation> observation = parse_observation(reader.document(), where);
    if (!observation) unsound_row(where, observation.error().message);
    trial.observation = std::move(*observation);
    if (const auto problem = trial_problem(trial)) unsound_row(where, *problem);
    columns(reader, trial);
  }
  return trials;
}

void put_artifact(SQLite::Database& sql, std::int64_t finding, std::string_view kind,
                  std::string_view name, std::string_view bytes) {
  RowWriter key;
  key("finding_id", finding);
  key("kind", std::string(kind));
  key("name", std::string(name));
  RowWriter content;
  content("added", utc_now());
  content("bytes", Blob{std::string(bytes)});
  if (const std::int64_t id = key.find(sql, "artifacts"); id != 0)
    return content.update(sql, "artifacts", id);
  key("added", utc_now());
  key("bytes", Blob{std::string(bytes)});
  key.insert(sql, "artifacts");
}

void replace_artifacts(SQLite::Database& sql, std::int64_t finding,
                       const std::vector<Artifact>& now, const std::vector<Artifact>& then) {
  const auto has = [](const std::vector<Artifact>& all, const Artifact& artifact) {
    return std::any_of(all.begin(), all.end(), [&](const Artifact& a) {
      return std::tie(a.kind, a.name, a.added, a.bytes) ==
             std::tie(artifact.kind, artifact.name, artifact.added, artifact.bytes);
    });
  };
  for (const auto& a : now) {
    if (has(then, a)) continue;
    SQLite::Statement remove(
        sql, "DELETE FROM artifacts WHERE finding_id = ? AND kind = ? AND name = ?");
    remove.bind(1, finding);
    remove.bind(2, a.kind);
    remove.bind(3, a.name);
    remove.exec();
  }
  for (const auto& a : then) {
    if (has(now, a)) continue;
    RowWriter row;
    row("finding_id", finding);
    row("kind", a.kind);
    row("name", a.name);
    row("added", a.added);
    row("bytes", Blob{a.bytes});
    row.insert(sql, "artifacts");
  }
}

std::vector<Artifact> read_artifacts(SQLite::Database& sql, std::int64_t finding) {
  SQLite::Statement query(sql,
                          "SELECT kind, name, added, bytes FROM artifacts WHERE finding_id = ? "
                          "ORDER BY kind, name");
  query.bind(1, finding);
  std::vector<Artifact> artifacts;
  while (query.executeStep()) {
    RowReader reader(query, fmt::format("an artifact of finding {}", finding));
    Artifact& a = artifacts.emplace_back();
    for (std::string* part : {&a.kind, &a.name, &a.added}) *part = reader.text();
    a.bytes = reader.bytes();
  }
  return artifacts;
}

}  // namespace redzone::store
