#include "store/merge.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/campaign_record.h"
#include "core/plan_text.h"
#include "core/repro_worth.h"
#include "store/columns.h"
#include "store/copy_rows.h"
#include "store/database.h"
#include "store/finding_table.h"
#include "store/ledger_table.h"
#include "store/night.h"
#include "store/row.h"
#include "store/schema_columns.h"
#include "store/upkeep.h"
#include "store/writer_table.h"

namespace redzone::store {
namespace {

using Ids = std::map<std::int64_t, std::int64_t>;  // of a row there, here

// Greater is better; findings that are equal in all of it are equal in all that update_finding()
// writes.
auto worth(const Finding& f) {
  const auto& r = f.reliability;
  const double reliable = r.n == 0 ? 0 : static_cast<double>(r.k) / static_cast<double>(r.n);
  RowWriter words;
  columns(words, f.environment);
  for (const auto& row : f.attribution) columns(words, row);
  for (const auto& culprit : f.culprits) columns(words, culprit);
  judged_columns(words, f);
  return std::tuple(worth_of(f), reliable, r.n, print_plan(f.plan), print_plan(f.original),
                    words.cells());
}

// How far a campaign, or a night, had come when its store was copied.
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
    std::map<std::string, Finding> here;
    for (auto& f : all_findings(into_)) here.emplace(f.signature.hash(), std::move(f));
    for (auto& f : all_findings(from_)) {
      const auto known = here.find(f.signature.hash());
      if (known == here.end()) {
        finding_[f.id] = insert(f);
        ++merged_.findings;
      } else {
        finding_[f.id] = known->second.id;
        improve(known->second, f);
        first_and_last(known->second, f);
      }
      count(f.id, finding_[f.id]);
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
    f.sightings = 0;  // counted by campaign
    const std::int64_t id = insert_finding(into_, f, "");
    evidence(there, id);
    return id;
  }

  void improve(const Finding& known, const Finding& other) {
    if (worth(other) <= worth(known)) return;
    Finding better = other;
    better.id = known.id;
    for (const char* table : {"trials", "artifacts"}) {
      SQLite::Statement clear(into_, fmt::format("DELETE FROM {} WHERE finding_id = ?", table));
      clear.bind(1, known.id);
      clear.exec();
    }
    rewrite_finding(into_, better);
    evidence(other.id, known.id);
    ++merged_.improved;
  }

  void evidence(std::int64_t there, std::int64_t here) {
    const auto finding = [here](std::int64_t) { return here; };
    const auto plan = [this](std::int64_t id) { return copy_plan(from_, into_, id); };
    copy_rows(from_, into_, "trials", known_.at("trials"), "finding_id", there,
              {{"finding_id", finding}, {"plan_id", plan}});
    copy_rows(from_, into_, "artifacts", known_.at("artifacts"), "finding_id", there,
              {{"finding_id", finding}});
  }

  // Runs of bisections; of the same plan those of the store that made more.
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

  // When it was seen first, where and after how much; and when last.
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

  // A campaign's count only grows, so the larger one is the later one.
  void count(std::int64_t there, std::int64_t here) {
    SQLite::Statement counts(from_, "SELECT campaign, plans FROM sightings WHERE finding_id = ?");
    counts.bind(1, there);
    while (counts.executeStep()) {
      SQLite::Statement add(into_,
                            "INSERT INTO sightings (finding_id, campaign, plans) VALUES (?, ?, ?) "
                            "ON CONFLICT DO UPDATE SET plans = max(plans, excluded.plans)");
      add.bind(1, here);
      add.bind(2, counts.getColumn(0).getString());
      add.bind(3, counts.getColumn(1).getInt64());
      add.exec();
    }
    SQLite::Statement total(into_,
                            "UPDATE findings SET sightings = (SELECT ifnull(sum(plans), 0) FROM "
                            "sightings WHERE finding_id = ?1) WHERE id = ?1");
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
  Ids campaign_, finding_;
  std::vector<std::int64_t> ahead_;  // campaigns of which `from` knows more
  Merged merged_;
};

}  // namespace

Result<Merged> merge(Store& from, Store& into) {
  // Rows are copied as they are, and this store stays sound.
  const auto wrong = check(from);
  if (!wrong) return tl::unexpected(wrong.error());
  if (!wrong->empty())
    return unsound_error(
        fmt::format("{} is not sound: {}", from.database().path().string(), wrong->front()));
  return into.database().write_nothing_new(Durability::full, [&] {
    join_writers(from.database().sql(), into.database().sql());
    return Merging(from.database().sql(), into.database().sql()).run();
  });
}

}  // namespace redzone::store
