#include "store/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/campaign_record.h"
#include "core/plan_text.h"
#include "core/repro_worth.h"
#include "store/columns.h"
#include "store/copy_rows.h"
#include "store/database.h"
#include "store/evidence_table.h"
#include "store/finding_table.h"
#include "store/ledger_table.h"
#include "store/night.h"
#include "store/row.h"
#include "store/schema_columns.h"
#include "store/upkeep.h"
#include "store/writer_table.h"

namespace redzone::store {
namespace {

using IdMap = std::map<std::int64_t, std::int64_t>;  // maps ids of `from` to ids of `into`

// Greater is better. Findings with equal worth are equal in all members that update_finding()
// writes.
auto worth(const Finding& f) {
  const auto& r = f.reliability;
  const double reliable = r.n == 0 ? 0 : static_cast<double>(r.k) / static_cast<double>(r.n);
  RowWriter words;
  columns(words, f.environment);
  for (const auto& row : f.attribution) columns(words, row);
  for (const auto& one : f.fault_attributions) columns(words, one);
  // Whether the origin was merged does not affect the worth.
  Finding here = f;
  here.origin_merged = false;
  judged_columns(words, std::as_const(here));
  return std::tuple(worth_of(f), reliable, r.n, print_plan(f.plan), print_plan(f.original),
                    words.cells());
}

// Progress of a campaign or night at the time when its store was copied.
auto progress(SQLite::Database& sql, std::int64_t campaign) {
  SQLite::Statement query(
      sql,
      "SELECT c.ended, max(ifnull(n.exit_code, -1), -1), c.plans, c.seconds, "
      "(SELECT count(*) FROM night_replays r WHERE r.campaign_id = c.id) "
      "FROM campaigns c LEFT JOIN nights n ON n.campaign_id = c.id WHERE c.id = ?");
  query.bind(1, campaign);
  query.executeStep();
  return std::tuple(query.getColumn(0).getString(), query.getColumn(1).getInt64(),
                    query.getColumn(2).getInt64(), query.getColumn(3).getDouble(),
                    query.getColumn(4).getInt64());
}

// Evidence for one of two repros of a finding. A trial refers to its plan; an artifact names its
// plan in its kind, but only after a merge with the artifacts of another plan.
struct Evidence {
  std::string plan;  // hash of the repro
  std::vector<Artifact> artifacts;
};

std::string kind_beside(const std::string& kind, const std::string& plan) {
  constexpr std::string_view kOfPlan = " of plan ";
  constexpr std::size_t kDigits = 12;
  if (kind.find(kOfPlan) != std::string::npos) return kind;
  return fmt::format("{}{}{}", kind, kOfPlan, plan.substr(0, kDigits));
}

// Removes a final number: "confirm 2" becomes "confirm".
std::string_view without_number(std::string_view name) {
  const auto end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && end + 1 < name.size() && name[end] == ' '
             ? name.substr(0, end)
             : name;
}

// All artifacts of both repros: those of the better one unchanged, then those that it lacks. An
// artifact with the same name but other bytes gets a number.
std::vector<Artifact> joined(const Evidence& better, const Evidence& worse) {
  std::vector<Artifact> all = better.artifacts;
  const auto any = [&](auto matches) { return std::any_of(all.begin(), all.end(), matches); };
  for (Artifact artifact : worse.artifacts) {
    if (worse.plan != better.plan) artifact.kind = kind_beside(artifact.kind, worse.plan);
    const std::string name(without_number(artifact.name));
    if (any([&](const Artifact& a) {
          return a.kind == artifact.kind && without_number(a.name) == name &&
                 a.bytes == artifact.bytes;
        }))
      continue;
    for (int i = 2;
         any([&](const Artifact& a) { return a.kind == artifact.kind && a.name == artifact.name; });
         ++i)
      artifact.name = fmt::format("{} {}", name, i);
    all.push_back(std::move(artifact));
  }
  return all;
}

class Merging {
 public:
  Merging(SQLite::Database& from, SQLite::Database& into) : from_(from), into_(into) {}

  Merged run() {
    campaigns();
    findings();
    nights();
    return merged_;
  }

 private:
  void campaigns() {
    SQLite::Statement all(from_, "SELECT id FROM campaigns ORDER BY id");
    while (all.executeStep()) {
      const std::int64_t id = all.getColumn(0).getInt64();
      const CampaignRecord campaign = read_campaign(from_, id);
      RowWriter key, row;
      key("uid", campaign.uid);
      columns(row, campaign);
      const std::int64_t known = key.find(into_, "campaigns");
      if (known == 0) {
        campaign_[id] = row.insert(into_, "campaigns");
        ++merged_.campaigns;
      } else {
        campaign_[id] = known;
        if (progress(from_, id) <= progress(into_, known)) continue;
        row.update(into_, "campaigns", known);
      }
      ahead_.push_back(id);
    }
  }

  void findings() {
    // Loads findings of `into` one by one, because it may have far more findings than `from`.
    for (auto& f : all_findings(from_)) {
      const std::int64_t known = finding_id(into_, f.signature);
      if (known == 0) {
        finding_[f.id] = insert(f);
        ++merged_.findings;
      } else {
        const Finding here = read_finding(into_, known);
        finding_[f.id] = known;
        join(here, f);
        first_and_last(here, f);
      }
      count(f.id, finding_[f.id]);
      copy_rows(from_, into_, "former_names", known_.at("former_names"), "finding_id", f.id,
                {{"finding_id", [here = finding_[f.id]](std::int64_t) { return here; }}},
                Repeated::left_out);
    }
    probes();
    SQLite::Statement entries(from_, "SELECT finding_id, at, event, link, note FROM ledger");
    SQLite::Statement add(into_,
                          "INSERT OR IGNORE INTO ledger (finding_id, at, event, link, note) "
                          "VALUES (?, ?, ?, ?, ?)");
    while (entries.executeStep()) {
      add.bind(1, finding_.at(entries.getColumn(0).getInt64()));
      for (int i = 1; i <= 4; ++i) add.bind(i + 1, entries.getColumn(i).getString());
      merged_.entries += add.exec();
      add.reset();
    }
    drop_unused_plans(into_);
  }

  std::int64_t insert(Finding f) {
    const std::int64_t there = f.id;
    f.campaign = f.campaign == 0 ? 0 : campaign_.at(f.campaign);
    f.occurrences = 0;  // recomputed from the campaigns' counts
    f.origin_merged = f.program.has_value();
    const std::int64_t id = insert_finding(into_, f, "");
    copy_trials(there, id, Repeated::copied);
    copy_rows(from_, into_, "artifacts", known_.at("artifacts"), "finding_id", there,
              {{"finding_id", [id](std::int64_t) { return id; }}});
    return id;
  }

  // Keeps the better of the two repros, with the evidence of both.
  void join(const Finding& known, const Finding& other) {
    const bool improved = worth(other) > worth(known);
    const Evidence here{plan_hash(known.plan), read_artifacts(into_, known.id)};
    const Evidence there{plan_hash(other.plan), read_artifacts(from_, other.id)};
    copy_trials(other.id, known.id, Repeated::left_out);
    replace_artifacts(into_, known.id, here.artifacts,
                      improved ? joined(there, here) : joined(here, there));
    if (!improved) return;
    Finding better = other;
    better.id = known.id;
    better.origin_merged = better.program.has_value();
    rewrite_finding(into_, better);
    ++merged_.improved;
  }

  void copy_trials(std::int64_t there, std::int64_t here, Repeated repeated) {
    copy_rows(from_, into_, "trials", known_.at("trials"), "finding_id", there,
              {{"finding_id", [here](std::int64_t) { return here; }},
               {"plan_id", [this](std::int64_t id) { return copy_plan(from_, into_, id); }}},
              repeated);
  }

  // Copies runs of bisections; for the same plan, the runs of the store with more runs win.
  void probes() {
    SQLite::Statement all(from_,
                          "SELECT finding_id, plan_id, device, code_hash, failed_runs, otherwise, "
                          "passed, unjudged, said, last_run FROM probes");
    SQLite::Statement add(
        into_,
        "INSERT INTO probes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "failed_runs = excluded.failed_runs, otherwise = excluded.otherwise, passed = "
        "excluded.passed, unjudged = excluded.unjudged, said = excluded.said, last_run = "
        "excluded.last_run WHERE (excluded.failed_runs + excluded.otherwise + excluded.passed + "
        "excluded.unjudged, excluded.failed_runs, excluded.otherwise, excluded.passed, "
        "excluded.said, excluded.last_run) > (failed_runs + otherwise + passed + unjudged, "
        "failed_runs, otherwise, passed, said, last_run)");
    while (all.executeStep()) {
      add.bind(1, finding_.at(all.getColumn(0).getInt64()));
      add.bind(2, copy_plan(from_, into_, all.getColumn(1).getInt64()));
      for (int i : {2, 3, 8, 9}) add.bind(i + 1, all.getColumn(i).getString());
      for (int i : {4, 5, 6, 7}) add.bind(i + 1, all.getColumn(i).getInt64());
      add.exec();
      add.reset();
    }
  }

  // Updates the first occurrence (time, campaign, effort) and the last.
  void first_and_last(const Finding& known, const Finding& other) {
    const auto first = [](const Finding& f, SQLite::Database& sql) {
      SQLite::Statement query(sql, "SELECT uid FROM campaigns WHERE id = ?");
      query.bind(1, f.campaign);
      const std::string uid = query.executeStep() ? query.getColumn(0).getString() : "";
      return std::tuple(f.first_seen, uid, f.plans_to_first, f.seconds_to_first);
    };
    RowWriter row;
    row("last_seen", std::max(known.last_seen, other.last_seen));
    if (first(other, from_) < first(known, into_)) {
      row("first_seen", other.first_seen);
      row("plans_to_first", other.plans_to_first);
      row("seconds_to_first", other.seconds_to_first);
      if (other.campaign != 0)
        row("campaign_id", campaign_.at(other.campaign));
      else
        row.null("campaign_id");
    }
    row.update(into_, "findings", known.id);
  }

  // A campaign's count only grows, so the larger count is the later one.
  void count(std::int64_t there, std::int64_t here) {
    SQLite::Statement counts(from_, "SELECT campaign, plans FROM occurrences WHERE finding_id = ?");
    counts.bind(1, there);
    while (counts.executeStep()) {
      SQLite::Statement add(
          into_,
          "INSERT INTO occurrences (finding_id, campaign, plans) VALUES (?, ?, ?) "
          "ON CONFLICT DO UPDATE SET plans = max(plans, excluded.plans)");
      add.bind(1, here);
      add.bind(2, counts.getColumn(0).getString());
      add.bind(3, counts.getColumn(1).getInt64());
      add.exec();
    }
    SQLite::Statement total(into_,
                            "UPDATE findings SET occurrences = (SELECT ifnull(sum(plans), 0) FROM "
                            "occurrences WHERE finding_id = ?1) WHERE id = ?1");
    total.bind(1, here);
    total.exec();
  }

  void nights() {
    for (const std::int64_t campaign : ahead_) {
      const std::int64_t here = campaign_.at(campaign);
      const Remap remap{{"campaign_id", [here](std::int64_t) { return here; }},
                        {"finding_id", [this](std::int64_t id) { return finding_.at(id); }}};
      for (const char* table : {"nights", "night_targets", "night_replays"}) {
        SQLite::Statement clear(into_, fmt::format("DELETE FROM {} WHERE campaign_id = ?", table));
        clear.bind(1, here);
        clear.exec();
        copy_rows(from_, into_, table, known_.at(table), "campaign_id", campaign, remap);
      }
      SQLite::Statement leave(
          into_, "UPDATE nights SET exit_code = ? WHERE campaign_id = ? AND exit_code < 0");
      leave.bind(1, NightRun::kElsewhere);
      leave.bind(2, here);
      leave.exec();
    }
  }

  SQLite::Database& from_;
  SQLite::Database& into_;
  const Columns& known_ = known_columns();
  IdMap campaign_, finding_;
  std::vector<std::int64_t> ahead_;  // campaigns that have progressed further in `from`
  Merged merged_;
};

}  // namespace

Result<Merged> merge(Store& from, Store& into) {
  // Rows are copied unchecked, so `from` must be sound.
  RZ_TRY_ASSIGN(const auto wrong, check(from));
  if (!wrong.empty())
    return unsound_error(
        fmt::format("{} is not sound: {}", from.database().path().string(), wrong.front()));
  return into.database().write_nothing_new(Durability::full, [&] {
    join_writers(from.database().sql(), into.database().sql());
    return Merging(from.database().sql(), into.database().sql()).run();
  });
}

}  // namespace redzone::store
