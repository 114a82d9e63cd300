#include "store/ledger_table.h"

#include "store/columns.h"
#include "store/row.h"

namespace redzone::store {

void add_entry(SQLite::Database& sql, std::int64_t finding, const LedgerEntry& entry) {
  RowWriter conditions;
  columns(conditions, entry);
  SQLite::Statement add(sql,
                        "INSERT OR IGNORE INTO ledger (finding_id, at, event, link, note) "
                        "VALUES (?, ?, ?, ?, ?)");
  add.bind(1, finding);
  add.bind(2, entry.at);
  add.bind(3, std::string(name_of(entry.event)));
  add.bind(4, entry.link);
  add.bind(5, entry.note);
  add.exec();
}

Entries read_entries(SQLite::Database& sql, std::int64_t finding) {
  SQLite::Statement query(sql,
                          fmt::format("SELECT {} FROM ledger l WHERE finding_id = ? ORDER BY at",
                                      column_list<LedgerEntry>("l")));
  query.bind(1, finding);
  Entries entries;
  while (query.executeStep()) {
    RowReader reader(query, fmt::format("the ledger of finding {}", finding));
    columns(reader, entries.emplace_back());
  }
  return entries;
}

std::map<std::int64_t, Entries> read_all_entries(SQLite::Database& sql) {
  SQLite::Statement query(sql, fmt::format("SELECT finding_id, {} FROM ledger l ORDER BY at",
                                           column_list<LedgerEntry>("l")));
  std::map<std::int64_t, Entries> all;
  while (query.executeStep()) {
    RowReader reader(query, "a ledger");
    const std::int64_t finding = reader.integer();
    reader.is(fmt::format("the ledger of finding {}", finding));
    columns(reader, all[finding].emplace_back());
  }
  return all;
}

void add_occurrences(SQLite::Database& sql, std::int64_t finding, const std::string& campaign,
                     std::int64_t plans) {
  SQLite::Statement add(sql,
                        "INSERT INTO occurrences (finding_id, campaign, plans) VALUES (?, ?, ?) "
                        "ON CONFLICT DO UPDATE SET plans = plans + excluded.plans");
  add.bind(1, finding);
  add.bind(2, campaign);
  add.bind(3, plans);
  add.exec();
}

}  // namespace redzone::store
