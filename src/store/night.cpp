#include "store/night.h"

#include <algorithm>

#include "core/campaign_record.h"
#include "core/utc.h"
#include "store/columns.h"
#include "store/database.h"
#include "store/night_table.h"
#include "store/row.h"

namespace redzone::store {
namespace {

template <class A, Of<NightRun> R>
void night_columns(A& a, R& r) {
  a("campaign_id", r.campaign);
  a("began", r.began);
  a("base_seed", r.base_seed);
  a("shard", r.shard);
  a("shards", r.shards);
  a("fleet", r.fleet);
  a("build_commit", r.commit);
  a("tool_version", r.tool_version);
  a("driver", r.driver);
  a("toolkit", r.toolkit);
  a("host", r.host);
  a("budget_seconds", r.budget_seconds);
  a("proof_seconds", r.proof_seconds);
  a("replay_seconds", r.replay_seconds);
  a("fuzz_seconds", r.fuzz_seconds);
  a("planted_bugs_caught", r.planted_bugs_caught);
  a("resumed", r.resumed);
  a("problem", r.problem);
  a("exit_code", r.exit_code);
  a("asked_targets", r.asked_targets);
  a("asked_corpus", r.asked_corpus);
  a.holds(is_utc_time(r.began), "it began at no valid time");
  a.holds(1 <= r.shard && r.shard <= r.shards, "its shard is not in 1..shards");
  a.holds(r.exit_code >= NightRun::kElsewhere && are_counts(r.planted_bugs_caught, r.resumed) &&
              std::min({r.budget_seconds, r.proof_seconds, r.replay_seconds, r.fuzz_seconds}) >= 0,
          "it has a negative count");
}

template <class A, Of<NightReplay> R>
void night_columns(A& a, R& r) {
  a("subject", r.subject);
  a("target", r.target);
  a("expected", r.expected);
  a("tonight", r.outcome);
  redzone::store::columns(a, r.failed);
  a("reason", r.reason);
  a("device_seconds", r.device_seconds);
  a.holds(r.device_seconds >= 0, "it has a negative duration");
}

template <class A, Of<NightTarget> T>
void night_columns(A& a, T& t) {
  a("target", t.target);
  a("plans", t.plans);
  a("calls", t.calls);
  a("pass", t.pass);
  a("fail", t.fail);
  a("inconclusive", t.inconclusive);
  a("not_applicable", t.not_applicable);
  a("harness_errors", t.harness_errors);
  a("device_seconds", t.device_seconds);
  a("share", t.share);
  a("not_fuzzed", t.not_fuzzed);
  redzone::store::columns(a, t.reference);
  a("not_compared", t.not_compared);
  a("outputs_by_digests", t.outputs.by_digests);
  a("outputs_by_nothing", t.outputs.by_nothing);
  a("outputs_not_judged", t.not_judged);
  a("spec_error", t.spec_error);
  a.holds(are_counts(t.outputs.by_digests, t.outputs.by_nothing), "it has a negative count");
  a.holds(are_counts(t.plans, t.calls, t.pass, t.fail, t.inconclusive, t.not_applicable,
                     t.harness_errors) &&
              std::min(t.device_seconds, t.share) >= 0,
          "it has a negative count");
}

template <class T>
std::string names_of_columns() {
  ColumnNames names;
  const T sample{};
  night_columns(names, sample);
  return names.list("t");
}

void write_run(Database& db, const NightRun& run) {
  RowWriter row;
  night_columns(row, run);
  row.replace(db.sql(), "nights");
}

void write_target(Database& db, std::int64_t campaign, const NightTarget& target) {
  RowWriter row;
  row("campaign_id", campaign);
  night_columns(row, target);
  row.replace(db.sql(), "night_targets");
}

}  // namespace

std::vector<NightReplay> read_replays(SQLite::Database& sql, std::int64_t campaign) {
  SQLite::Statement query(sql,
                          fmt::format("SELECT ifnull(t.finding_id, 0), {} FROM night_replays t "
                                      "WHERE campaign_id = ? ORDER BY subject",
                                      names_of_columns<NightReplay>()));
  query.bind(1, campaign);
  std::vector<NightReplay> replays;
  while (query.executeStep()) {
    RowReader reader(query, fmt::format("a replay of night {}", campaign));
    NightReplay& replay = replays.emplace_back();
    if (const std::int64_t finding = reader.integer(); finding != 0) replay.finding = finding;
    night_columns(reader, replay);
  }
  return replays;
}

std::vector<NightRun> read_runs(SQLite::Database& sql) {
  SQLite::Statement query(sql, fmt::format("SELECT {} FROM nights t ORDER BY campaign_id",
                                           names_of_columns<NightRun>()));
  std::vector<NightRun> runs;
  while (query.executeStep()) {
    RowReader reader(query, "a night");
    night_columns(reader, runs.emplace_back());
  }
  return runs;
}

std::vector<NightTarget> read_targets(SQLite::Database& sql, std::int64_t campaign) {
  SQLite::Statement query(
      sql, fmt::format("SELECT {} FROM night_targets t WHERE campaign_id = ? ORDER BY target",
                       names_of_columns<NightTarget>()));
  query.bind(1, campaign);
  std::vector<NightTarget> targets;
  while (query.executeStep()) {
    RowReader reader(query, fmt::format("a target of night {}", campaign));
    night_columns(reader, targets.emplace_back());
  }
  return targets;
}

Result<void> NightBook::begin(const NightRun& run) {
  return store_.database().write(Durability::full, [&] {
    NightRun begun = run;
    if (begun.began.empty()) begun.began = utc_now_us();
    write_run(store_.database(), begun);
  });
}

Result<void> NightBook::update(const NightRun& run) {
  return store_.database().write(run.finished() ? Durability::full : Durability::lazy,
                                 [&] { write_run(store_.database(), run); });
}

Result<void> NightBook::replayed(std::int64_t campaign, const NightReplay& replay) {
  // Lazy for a plan that was not run: there is no result to lose in a power cut, and there may be
  // thousands of such plans.
  const auto durability =
      replay.outcome == ReplayOutcome::not_run ? Durability::lazy : Durability::full;
  return store_.database().write(durability, [&] {
    RowWriter row;
    row("campaign_id", campaign);
    if (replay.finding)
      row("finding_id", *replay.finding);
    else
      row.null("finding_id");
    night_columns(row, replay);
    row.replace(store_.database().sql(), "night_replays");
  });
}

Result<void> NightBook::target(std::int64_t campaign, const NightTarget& target) {
  return store_.database().write(Durability::lazy,
                                 [&] { write_target(store_.database(), campaign, target); });
}

Result<void> NightBook::keep(const NightRun& run, const CampaignStats& stats,
                             const std::vector<NightTarget>& targets) {
  return store_.database().write(Durability::lazy, [&] {
    write_run(store_.database(), run);
    RowWriter campaign;
    columns(campaign, stats);
    campaign.update(store_.database().sql(), "campaigns", run.campaign);
    for (const auto& target : targets) write_target(store_.database(), run.campaign, target);
  });
}

Result<std::vector<NightRun>> NightBook::runs() {
  return store_.database().read([&] { return read_runs(store_.database().sql()); });
}

Result<std::vector<NightReplay>> NightBook::replays(std::int64_t campaign) {
  return store_.database().read([&] { return read_replays(store_.database().sql(), campaign); });
}

Result<std::vector<NightTarget>> NightBook::targets(std::int64_t campaign) {
  return store_.database().read([&] { return read_targets(store_.database().sql(), campaign); });
}

Result<std::map<std::string, double>> NightBook::device_seconds(std::int64_t campaign) {
  return store_.database().read([&] {
    SQLite::Statement query(
        store_.database().sql(),
        "SELECT target, sum(device_seconds) FROM ("
        "SELECT target, device_seconds FROM night_targets WHERE campaign_id = ?1 UNION ALL "
        "SELECT target, device_seconds FROM night_replays WHERE campaign_id = ?1) GROUP BY target");
    query.bind(1, campaign);
    std::map<std::string, double> seconds;
    while (query.executeStep())
      seconds[query.getColumn(0).getString()] = query.getColumn(1).getDouble();
    return seconds;
  });
}

Result<std::map<std::string, std::int64_t>> NightBook::last_replayed() {
  return store_.database().read([&] {
    SQLite::Statement query(store_.database().sql(),
                            "SELECT subject, max(campaign_id) FROM night_replays "
                            "WHERE runs > 0 GROUP BY subject");
    std::map<std::string, std::int64_t> last;
    while (query.executeStep())
      last[query.getColumn(0).getString()] = query.getColumn(1).getInt64();
    return last;
  });
}

Result<std::int64_t> NightBook::passed_runs(std::int64_t finding, const std::string& device,
                                            const std::string& after) {
  return store_.database().read([&] {
    SQLite::Statement query(store_.database().sql(),
                            "SELECT ifnull(sum(r.runs), 0) FROM night_replays r "
                            "JOIN nights n ON n.campaign_id = r.campaign_id "
                            "JOIN campaigns c ON c.id = r.campaign_id "
                            "WHERE r.finding_id = ? AND r.failed_runs = 0 AND c.device = ? "
                            "AND n.began > ? AND r.tonight <> ?");
    query.bind(1, finding);
    query.bind(2, device);
    query.bind(3, after);
    query.bind(4, std::string(name_of(ReplayOutcome::otherwise)));
    query.executeStep();
    return query.getColumn(0).getInt64();
  });
}

Result<std::set<std::int64_t>> NightBook::bisected() {
  return store_.database().read([&] {
    SQLite::Statement query(store_.database().sql(), "SELECT DISTINCT finding_id FROM probes");
    std::set<std::int64_t> findings;
    while (query.executeStep()) findings.insert(query.getColumn(0).getInt64());
    return findings;
  });
}

Result<std::vector<std::pair<std::int64_t, std::int64_t>>> NightBook::occurrences(
    std::int64_t campaign) {
  return store_.database().read([&] {
    SQLite::Statement query(store_.database().sql(),
                            "SELECT s.finding_id, s.plans FROM occurrences s "
                            "JOIN campaigns c ON c.uid = s.campaign WHERE c.id = ?");
    query.bind(1, campaign);
    std::vector<std::pair<std::int64_t, std::int64_t>> occurrences;
    while (query.executeStep()) {
      RowReader reader(query, fmt::format("an occurrence of campaign {}", campaign));
      const std::int64_t finding = reader.integer();
      const std::int64_t plans = reader.integer();
      reader.holds(are_counts(plans), "it has a negative count");
      occurrences.emplace_back(finding, plans);
    }
    return occurrences;
  });
}

}  // namespace redzone::store
