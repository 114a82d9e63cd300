#include "store/finding_table.h"

#include <map>

#include "core/campaign_record.h"
#include "core/plan_text.h"
#include "store/columns.h"
#include "store/ledger_table.h"
#include "store/row.h"

namespace redzone::store {
namespace {

std::int64_t environment_row(SQLite::Database& sql, const Environment& environment) {
  RowWriter row;
  columns(row, environment);
  return row.find_or_insert(sql, "environments");
}

void add_references(SQLite::Database& sql, RowWriter& row, const Finding& finding) {
  row("plan_id", plan_row(sql, finding.plan));
  row("original_id", plan_row(sql, finding.original));
  row("environment_id", environment_row(sql, finding.environment));
}

// Replaces the rows of `table` that belong to the finding, in order.
template <class T>
void write_rows(SQLite::Database& sql, const char* table, std::int64_t id,
                const std::vector<T>& rows) {
  SQLite::Statement clear(sql, fmt::format("DELETE FROM {} WHERE finding_id = ?", table));
  clear.bind(1, id);
  clear.exec();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RowWriter row;
    row("finding_id", id);
    row("position", i);
    columns(row, rows[i]);
    row.insert(sql, table);
  }
}

template <class T>
void read_rows(SQLite::Database& sql, const char* table, std::int64_t id, std::vector<T>& rows) {
  SQLite::Statement query(sql,
                          fmt::format("SELECT {} FROM {} a WHERE finding_id = ? ORDER BY position",
                                      column_list<T>("a"), table));
  query.bind(1, id);
  while (query.executeStep()) {
    RowReader reader(query, fmt::format("{} of finding {}", table, id));
    columns(reader, rows.emplace_back());
  }
}

void write_details(SQLite::Database& sql, std::int64_t id, const Finding& finding) {
  write_rows(sql, "attributions", id, finding.attribution);
  write_rows(sql, "culprits", id, finding.fault_attributions);
}

// "findings 1 to 3, 7", "no findings yet".
std::string ids_where(SQLite::Database& sql, std::string_view table, std::string_view what) {
  SQLite::Statement query(sql, fmt::format("SELECT id FROM {} ORDER BY id", table));
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  while (query.executeStep()) {
    const std::int64_t id = query.getColumn(0).getInt64();
    if (ranges.empty() || id != ranges.back().second + 1) ranges.emplace_back(id, id);
    ranges.back().second = id;
  }
  if (ranges.empty()) return fmt::format("no {}s yet", what);
  std::string out;
  for (const auto& [first, last] : ranges)
    out +=
        fmt::format("{}{}", out.empty() ? "" : ", ",
                    first == last ? std::to_string(first) : fmt::format("{} to {}", first, last));
  const bool one = ranges.size() == 1 && ranges[0].first == ranges[0].second;
  return fmt::format("{}{} {}", what, one ? "" : "s", out);
}

// Selects findings by `condition`, ordered by id. Includes findings whose plan is missing, so that
// reading them reports it.
std::string select(std::string_view condition) {
  return fmt::format(
      "SELECT f.id, ifnull(f.campaign_id, 0), p.text, o.text, {}, {} FROM findings f "
      "LEFT JOIN plans p ON p.id = f.plan_id LEFT JOIN plans o ON o.id = f.original_id "
      "LEFT JOIN environments e ON e.id = f.environment_id {} ORDER BY f.id",
      column_list<Finding>("f"), column_list<Environment>("e"), condition);
}

// The rows of `table` by finding, in order.
template <class T>
std::map<std::int64_t, std::vector<T>> read_all_rows(SQLite::Database& sql, const char* table) {
  SQLite::Statement query(sql,
                          fmt::format("SELECT a.finding_id, {} FROM {} a ORDER BY 1, a.position",
                                      column_list<T>("a"), table));
  std::map<std::int64_t, std::vector<T>> all;
  while (query.executeStep()) {
    RowReader reader(query, fmt::format("a row of {}", table));
    const std::int64_t finding = reader.integer();
    reader.is(fmt::format("{} of finding {}", table, finding));
    columns(reader, all[finding].emplace_back());
  }
  return all;
}

// Reads the columns of the findings table only.
Finding read_row(SQLite::Statement& query) {
  RowReader reader(query, "a finding");
  Finding f;
  f.id = reader.integer();
  reader.is(fmt::format("finding {}", f.id));
  f.campaign = reader.integer();
  for (Plan* plan : {&f.plan, &f.original})
    *plan = stored_plan(reader.document(), fmt::format("the plan of finding {}", f.id));
  columns(reader, f);
  columns(reader, f.environment);
  reader.holds(f.plan.target == f.signature.target && f.original.target == f.signature.target,
               "its plan is one of another target");
  return f;
}

}  // namespace

std::vector<CampaignRecord> read_campaigns(SQLite::Database& sql) {
  SQLite::Statement query(sql, fmt::format("SELECT c.id, {} FROM campaigns c ORDER BY c.id",
                                           column_list<CampaignRecord>("c")));
  std::vector<CampaignRecord> campaigns;
  while (query.executeStep()) {
    RowReader reader(query, "a campaign");
    CampaignRecord& campaign = campaigns.emplace_back();
    campaign.id = reader.integer();
    reader.is(fmt::format("campaign {}", campaign.id));
    columns(reader, campaign);
  }
  return campaigns;
}

CampaignRecord read_campaign(SQLite::Database& sql, std::int64_t id) {
  SQLite::Statement query(sql, fmt::format("SELECT {} FROM campaigns c WHERE id = ?",
                                           column_list<CampaignRecord>("c")));
  query.bind(1, id);
  query.executeStep();
  RowReader reader(query, fmt::format("campaign {}", id));
  CampaignRecord campaign;
  campaign.id = id;
  columns(reader, campaign);
  return campaign;
}

Plan stored_plan(const std::string& text, const std::string& where) {
  Result<Plan> plan = parse_plan(text, where);
  if (!plan) unsound_row(where, plan.error().message);
  return std::move(*plan);
}

std::int64_t plan_row(SQLite::Database& sql, const Plan& plan) {
  RowWriter key;
  key("hash", plan_hash(plan));
  if (const std::int64_t id = key.find(sql, "plans"); id != 0) return id;
  key.document("text", print_plan(plan));
  return key.insert(sql, "plans");
}

void drop_unused_plans(SQLite::Database& sql) {
  sql.exec(
      "DELETE FROM plans WHERE NOT EXISTS (SELECT 1 FROM findings WHERE plan_id = plans.id) "
      "AND NOT EXISTS (SELECT 1 FROM findings WHERE original_id = plans.id) "
      "AND NOT EXISTS (SELECT 1 FROM trials WHERE plan_id = plans.id) "
      "AND NOT EXISTS (SELECT 1 FROM probes WHERE plan_id = plans.id)");
}

std::int64_t insert_finding(SQLite::Database& sql, const Finding& finding,
                            const std::string& campaign) {
  RowWriter row;
  row("signature_hash", finding.signature.hash());
  columns(row, finding);
  add_references(sql, row, finding);
  if (finding.campaign != 0)
    row("campaign_id", finding.campaign);
  else
    row.null("campaign_id");
  const std::int64_t id = row.insert(sql, "findings");
  write_details(sql, id, finding);
  add_occurrences(sql, id, campaign, finding.occurrences);
  return id;
}

void update_finding(SQLite::Database& sql, const Finding& finding) {
  rewrite_finding(sql, finding);
  drop_unused_plans(sql);
}

void rewrite_finding(SQLite::Database& sql, const Finding& finding) {
  RowWriter row;
  judged_columns(row, finding);
  add_references(sql, row, finding);
  row.update(sql, "findings", finding.id);
  write_details(sql, finding.id, finding);
}

void count_occurrences(SQLite::Database& sql, std::int64_t id, const std::string& campaign,
                       std::int64_t plans, const std::string& when) {
  SQLite::Statement update(sql,
                           "UPDATE findings SET occurrences = occurrences + ?, "
                           "last_seen = max(last_seen, ?) WHERE id = ?");
  update.bind(1, plans);
  update.bind(2, when);
  update.bind(3, id);
  if (update.exec() > 0) add_occurrences(sql, id, campaign, plans);
}

namespace {

// Records the name under which finding `id` was confirmed, for the finding `into`, which may be the
// same one.
void keep_name(SQLite::Database& sql, std::int64_t id, std::int64_t into) {
  SQLite::Statement keep(sql,
                         "INSERT OR IGNORE INTO former_names (finding_id, signature_hash) "
                         "SELECT ?, signature_hash FROM findings WHERE id = ? AND state IN (?, ?)");
  keep.bind(1, into);
  keep.bind(2, id);
  keep.bind(3, std::string(name_of(FindingState::confirmed)));
  keep.bind(4, std::string(name_of(FindingState::flaky)));
  keep.exec();
}

}  // namespace

void rename_finding(SQLite::Database& sql, std::int64_t id, const Signature& signature) {
  keep_name(sql, id, id);
  RowWriter row;
  row("signature_hash", signature.hash());
  columns(row, signature);
  row.update(sql, "findings", id);
}

void merge_finding(SQLite::Database& sql, std::int64_t from, std::int64_t into) {
  const auto run = [&](const char* text) {
    SQLite::Statement statement(sql, text);
    statement.bind(1, from);
    statement.bind(2, into);
    statement.exec();
  };
  run("UPDATE findings SET occurrences = occurrences + (SELECT occurrences FROM findings WHERE id "
      "= ?1), "
      "last_seen = max(last_seen, (SELECT last_seen FROM findings WHERE id = ?1)) WHERE id = ?2");
  keep_name(sql, from, into);
  run("UPDATE OR IGNORE former_names SET finding_id = ?2 WHERE finding_id = ?1");
  run("UPDATE trials SET finding_id = ?2 WHERE finding_id = ?1");
  run("UPDATE OR IGNORE artifacts SET finding_id = ?2 WHERE finding_id = ?1");
  run("UPDATE OR IGNORE probes SET finding_id = ?2 WHERE finding_id = ?1");
  run("INSERT INTO occurrences SELECT ?2, campaign, plans FROM occurrences WHERE finding_id = ?1 "
      "ON CONFLICT DO UPDATE SET plans = plans + excluded.plans");
  run("INSERT OR IGNORE INTO ledger SELECT ?2, at, event, link, note FROM ledger "
      "WHERE finding_id = ?1");
  run("UPDATE night_replays SET finding_id = ?2 WHERE finding_id = ?1");
  remove_finding(sql, from);
  drop_unused_plans(sql);
}

void remove_finding(SQLite::Database& sql, std::int64_t id) {
  for (const char* text :
       {"DELETE FROM artifacts WHERE finding_id = ?", "DELETE FROM probes WHERE finding_id = ?",
        "DELETE FROM attributions WHERE finding_id = ?",
        "DELETE FROM culprits WHERE finding_id = ?", "DELETE FROM trials WHERE finding_id = ?",
        "DELETE FROM occurrences WHERE finding_id = ?",
        "DELETE FROM former_names WHERE finding_id = ?", "DELETE FROM ledger WHERE finding_id = ?",
        "UPDATE night_replays SET finding_id = NULL WHERE finding_id = ?",
        "DELETE FROM findings WHERE id = ?"}) {
    SQLite::Statement remove(sql, text);
    remove.bind(1, id);
    remove.exec();
  }
}

bool has_row(SQLite::Database& sql, std::string_view table, std::int64_t id) {
  RowWriter key;
  key("id", id);
  return key.find(sql, table) != 0;
}

std::int64_t finding_id(SQLite::Database& sql, const Signature& signature) {
  RowWriter key;
  key("signature_hash", signature.hash());
  return key.find(sql, "findings");
}

std::vector<Finding> all_findings(SQLite::Database& sql) {
  SQLite::Statement query(sql, select(""));
  std::vector<Finding> findings;
  auto entries = read_all_entries(sql);
  auto attributions = read_all_rows<AttributionRow>(sql, "attributions");
  auto fault_attributions = read_all_rows<Attribution>(sql, "culprits");
  while (query.executeStep()) {
    Finding& f = findings.emplace_back(read_row(query));
    if (const auto it = entries.find(f.id); it != entries.end())
      f.ledger = ledger_of(std::move(it->second));
    if (const auto it = attributions.find(f.id); it != attributions.end())
      f.attribution = std::move(it->second);
    if (const auto it = fault_attributions.find(f.id); it != fault_attributions.end())
      f.fault_attributions = std::move(it->second);
  }
  return findings;
}

Finding read_finding(SQLite::Database& sql, std::int64_t id) {
  SQLite::Statement query(sql, select("WHERE f.id = ?"));
  query.bind(1, id);
  query.executeStep();
  Finding finding = read_row(query);
  read_rows(sql, "attributions", id, finding.attribution);
  read_rows(sql, "culprits", id, finding.fault_attributions);
  finding.ledger = ledger_of(read_entries(sql, id));
  return finding;
}

Finding load_finding(Database& database, std::int64_t id) {
  require_row(database, "findings", "finding", id);
  return read_finding(database.sql(), id);
}

void require_row(Database& database, std::string_view table, std::string_view what,
                 std::int64_t id) {
  SQLite::Statement exists(database.sql(), fmt::format("SELECT 1 FROM {} WHERE id = ?", table));
  exists.bind(1, id);
  if (exists.executeStep()) return;
  throw Failure{
      {ErrorKind::usage, fmt::format("no {} {}: {} holds {}", what, id, database.path().string(),
                                     ids_where(database.sql(), table, what))}};
}

}  // namespace redzone::store
