#include "store/upkeep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/utc.h"
#include "store/columns.h"
#include "store/database.h"
#include "store/finding_table.h"
#include "store/ledger_table.h"
#include "store/writer_table.h"

namespace redzone::store {
namespace {

std::vector<std::int64_t> ids(SQLite::Database& sql, const std::string& query,
                              const std::vector<std::string>& arguments) {
  SQLite::Statement statement(sql, query);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    statement.bind(static_cast<int>(i) + 1, arguments[i]);
  std::vector<std::int64_t> ids;
  while (statement.executeStep()) ids.push_back(statement.getColumn(0).getInt64());
  return ids;
}

int run_for(SQLite::Database& sql, const char* text, std::int64_t id) {
  SQLite::Statement statement(sql, text);
  statement.bind(1, id);
  return statement.exec();
}

// Removes the redundant entries of each ledger before `time`.
std::int64_t compact_ledgers(SQLite::Database& sql, const std::string& time) {
  std::int64_t removed = 0;
  for (const auto& [finding, entries] : read_all_entries(sql)) {
    Entries old;
    for (const auto& e : entries)
      if (e.at < time) old.push_back(e);
    const Entries kept = compacted(old);
    for (const auto& e : old) {
      if (std::binary_search(kept.begin(), kept.end(), e)) continue;
      SQLite::Statement remove(sql,
                               "DELETE FROM ledger WHERE finding_id = ? AND at = ? AND event = ? "
                               "AND link = ? AND note = ?");
      remove.bind(1, finding);
      remove.bind(2, e.at);
      remove.bind(3, std::string(name_of(e.event)));
      remove.bind(4, e.link);
      remove.bind(5, e.note);
      removed += remove.exec();
    }
  }
  return removed;
}

std::vector<std::pair<std::string, std::int64_t>> counted(SQLite::Database& sql,
                                                          const std::string& query) {
  SQLite::Statement statement(sql, query);
  std::vector<std::pair<std::string, std::int64_t>> rows;
  while (statement.executeStep())
    rows.emplace_back(statement.getColumn(0).getString(), statement.getColumn(1).getInt64());
  return rows;
}

std::int64_t number(SQLite::Database& sql, const char* query) {
  return sql.execAndGet(query).getInt64();
}

std::int64_t file_bytes(SQLite::Database& sql) {
  return number(sql, "PRAGMA page_count") * number(sql, "PRAGMA page_size");
}

}  // namespace

Result<PruneResult> prune(Store& store, std::int64_t keep_days) {
  Database& db = store.database();
  SQLite::Database& sql = db.sql();
  auto pruned = db.write_nothing_new(Durability::full, [&] {
    const std::string time = utc_days_ago(static_cast<double>(keep_days));
    PruneResult out;
    out.bytes_before = file_bytes(sql);
    for (const auto id :
         ids(sql,
             "SELECT id FROM findings WHERE state = 'unconfirmed' AND last_seen < ? "
             "AND NOT EXISTS (SELECT 1 FROM ledger WHERE finding_id = findings.id)",
             {time})) {
      remove_finding(sql, id);
      ++out.findings;
    }
    // A campaign that has not ended may still run, or be a night that is resumed within a day.
    for (const auto id :
         ids(sql,
             "SELECT id FROM campaigns WHERE started < ? AND (ended <> '' OR started < ?) AND NOT "
             "EXISTS (SELECT 1 FROM findings WHERE campaign_id = campaigns.id)",
             {time, utc_days_ago(std::max(1.0, static_cast<double>(keep_days)))})) {
      run_for(sql, "DELETE FROM night_replays WHERE campaign_id = ?", id);
      run_for(sql, "DELETE FROM night_targets WHERE campaign_id = ?", id);
      run_for(sql, "DELETE FROM nights WHERE campaign_id = ?", id);
      out.campaigns += run_for(sql, "DELETE FROM campaigns WHERE id = ?", id);
    }
    if (out.campaigns > 0) note_prune(sql, db.writer(), time);
    out.entries = compact_ledgers(sql, time);
    drop_unused_plans(sql);
    return out;
  });
  if (!pruned) return pruned;
  // VACUUM cannot run inside a transaction.
  RZ_TRY(db.outside([&] {
    sql.exec("VACUUM");
    sql.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    pruned->bytes_after = file_bytes(sql);
  }));
  return pruned;
}

Result<StoreContents> contents(Store& store) {
  return store.database().read([&] {
    SQLite::Database& sql = store.database().sql();
    StoreContents out;
    out.schema_version = number(sql, "PRAGMA user_version");
    out.free_bytes = number(sql, "PRAGMA freelist_count") * number(sql, "PRAGMA page_size");
    out.bytes = file_bytes(sql) - out.free_bytes;
    for (const auto& [table, unused] :
         counted(sql,
                 "SELECT name, 0 FROM sqlite_master WHERE type = 'table' AND name NOT LIKE "
                 "'sqlite_%' ORDER BY name"))
      out.rows.emplace_back(table,
                            number(sql, fmt::format("SELECT count(*) FROM {}", table).c_str()));
    out.findings_by_state =
        counted(sql, "SELECT state, count(*) FROM findings GROUP BY state ORDER BY state");
    out.findings_by_target = counted(
        sql, "SELECT target, count(*) n FROM findings GROUP BY target ORDER BY n DESC, target");
    std::map<Standing, std::int64_t> standings;
    std::int64_t without_entries = 0;
    auto entries = read_all_entries(sql);
    for (const auto& [state, findings] : out.findings_by_state) without_entries += findings;
    for (auto& [finding, marks] : entries) {
      --without_entries;
      ++standings[ledger_of(std::move(marks)).standing];
    }
    if (without_entries > 0) standings[Standing::fresh] += without_entries;
    for (const auto& [standing, count] : standings)
      out.findings_by_standing.emplace_back(name_of(standing), count);
    SQLite::Statement seen(
        sql, "SELECT ifnull(min(first_seen), ''), ifnull(max(last_seen), '') FROM findings");
    seen.executeStep();
    out.first_seen = seen.getColumn(0).getString();
    out.last_seen = seen.getColumn(1).getString();
    return out;
  });
}

}  // namespace redzone::store
