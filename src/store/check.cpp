// Checks a store for soundness: its pages, its tables, and each row that a reader may refuse.
#include "core/plan_text.h"
#include "store/columns.h"
#include "store/database.h"
#include "store/evidence_table.h"
#include "store/finding_table.h"
#include "store/night_table.h"
#include "store/probe_table.h"
#include "store/row.h"
#include "store/upkeep.h"
#include "store/writer_table.h"

namespace redzone::store {
namespace {

using Lines = std::vector<std::string>;

std::vector<std::int64_t> ids_from(SQLite::Database& sql, const char* query) {
  SQLite::Statement statement(sql, query);
  std::vector<std::int64_t> ids;
  while (statement.executeStep()) ids.push_back(statement.getColumn(0).getInt64());
  return ids;
}

// The hint points to this check, so its own messages omit it.
std::string without_hint(std::string message) {
  if (message.ends_with(kCheckHint)) message.resize(message.size() - kCheckHint.size());
  return message;
}

// Reports a row that a reader refuses, as one line.
template <class Read>
void reads(Lines& wrong, Read read) {
  try {
    read();
  } catch (const Failure& f) {
    wrong.push_back(without_hint(f.error.message));
  }
}

void check_pages(SQLite::Database& sql, Lines& wrong) {
  SQLite::Statement pages(sql, "PRAGMA integrity_check");
  while (pages.executeStep())
    if (const std::string said = pages.getColumn(0).getString(); said != "ok")
      wrong.push_back(said);
}

void check_references(SQLite::Database& sql, Lines& wrong) {
  SQLite::Statement keys(sql, "PRAGMA foreign_key_check");
  while (keys.executeStep())
    wrong.push_back(fmt::format("a row of {} refers to a missing row of {}",
                                keys.getColumn(0).getString(), keys.getColumn(2).getString()));
}

// The id of a new row is the last id plus 1, and SQLite cannot insert after its largest id.
void check_numbers(SQLite::Database& sql, Lines& wrong) {
  for (const char* table : {"campaigns", "findings", "trials"}) {
    SQLite::Statement last(sql,
                           fmt::format("SELECT max(n) FROM (SELECT max(id) AS n FROM {0} UNION "
                                       "ALL SELECT seq FROM sqlite_sequence WHERE name = "
                                       "'{0}')",
                                       table));
    last.executeStep();
    if (last.getColumn(0).getInt64() > kMostCounted)
      wrong.push_back(fmt::format("the numbers of the rows of {} are used up", table));
  }
}

void check_plans(SQLite::Database& sql, Lines& wrong) {
  SQLite::Statement plans(sql, "SELECT id, hash, text FROM plans ORDER BY id");
  while (plans.executeStep()) {
    const std::int64_t id = plans.getColumn(0).getInt64();
    const auto plan = parse_plan(plans.getColumn(2).getString(), fmt::format("plan {}", id));
    if (!plan)
      wrong.push_back(plan.error().message);
    else if (plan_hash(*plan) != plans.getColumn(1).getString())
      wrong.push_back(fmt::format("plan {} does not match its hash", id));
  }
}

void check_findings(SQLite::Database& sql, Lines& wrong) {
  SQLite::Statement findings(
      sql,
      fmt::format("SELECT f.id, f.signature_hash, f.occurrences, (SELECT ifnull(sum(plans), 0) "
                  "FROM occurrences s WHERE s.finding_id = f.id), {} FROM findings f",
                  column_list<Signature>("f")));
  while (findings.executeStep()) {
    reads(wrong, [&] {
      RowReader reader(findings, "a finding");
      const std::int64_t id = reader.integer();
      reader.is(fmt::format("finding {}", id));
      const std::string hash = reader.text();
      const std::int64_t occurrences = reader.integer(), by_campaign = reader.integer();
      Signature signature;
      columns(reader, signature);
      if (signature.hash() != hash)
        wrong.push_back(fmt::format("finding {} does not match its hash", id));
      if (occurrences != by_campaign)
        wrong.push_back(fmt::format("finding {} has {} occurrences, its campaigns {}", id,
                                    occurrences, by_campaign));
    });
  }
}

void check_rows(Database& db, Lines& wrong) {
  SQLite::Database& sql = db.sql();
  reads(wrong, [&] { read_campaigns(sql); });
  reads(wrong, [&] { read_runs(sql); });
  reads(wrong, [&] { read_writers(sql); });
  for (const auto id : ids_from(sql, "SELECT id FROM findings ORDER BY id")) {
    reads(wrong, [&] { load_finding(db, id); });
    reads(wrong, [&] { read_trials(sql, id); });
    reads(wrong, [&] { read_artifacts(sql, id); });
  }
  reads(wrong, [&] {
    for (const auto& key : probe_keys(sql)) read_probes(sql, key);
  });
  for (const auto id : ids_from(sql, "SELECT campaign_id FROM nights ORDER BY campaign_id")) {
    reads(wrong, [&] { read_replays(sql, id); });
    reads(wrong, [&] { read_targets(sql, id); });
  }
}

}  // namespace

Result<std::vector<std::string>> check(Store& store) {
  Database& db = store.database();
  auto found = db.read([&] {
    Lines wrong;
    check_pages(db.sql(), wrong);
    if (!wrong.empty()) return wrong;  // the checks below could not read the store
    check_references(db.sql(), wrong);
    check_numbers(db.sql(), wrong);
    check_plans(db.sql(), wrong);
    check_findings(db.sql(), wrong);
    if (!wrong.empty()) return wrong;  // the checks below would report the same problems again
    check_rows(db, wrong);
    return wrong;
  });
  // Damage that Redzone's readers found, rather than SQLite.
  if (!found && found.error().kind == ErrorKind::unsound)
    return Lines{without_hint(found.error().message)};
  return found;
}

Result<std::vector<std::string>> check(const std::filesystem::path& file) {
  RZ_TRY_ASSIGN(auto examined, Store::examine(file));
  if (auto* damage = std::get_if<std::string>(&examined)) return Lines{std::move(*damage)};
  return check(std::get<Store>(examined));
}

}  // namespace redzone::store
