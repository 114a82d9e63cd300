#include "store/writer_table.h"

#include <algorithm>

#include "store/columns.h"
#include "store/row.h"

namespace redzone::store {
namespace {

void put(SQLite::Database& sql, const std::string& name, const Writer& writer) {
  SQLite::Statement add(sql,
                        "INSERT INTO writers (name, writes, pruned) VALUES (?, ?, ?) ON CONFLICT "
                        "DO UPDATE SET writes = max(writes, excluded.writes), pruned = max(pruned, "
                        "excluded.pruned) WHERE excluded.writes > writes OR excluded.pruned > "
                        "pruned");
  add.bind(1, name);
  add.bind(2, writer.writes);
  add.bind(3, writer.pruned);
  add.exec();
}

}  // namespace

Writers read_writers(SQLite::Database& sql) {
  SQLite::Statement query(sql, "SELECT name, writes, pruned FROM writers");
  Writers writers;
  while (query.executeStep()) {
    RowReader reader(query, "a writer");
    const std::string name = reader.text();
    reader.is(fmt::format("writer {}", name));
    Writer& writer = writers[name];
    writer.writes = reader.integer();
    writer.pruned = reader.text();
    reader.holds(are_counts(writer.writes), "it has a negative count");
  }
  return writers;
}

void count_write(SQLite::Database& sql, const std::string& writer) {
  SQLite::Statement add(sql,
                        "INSERT INTO writers (name, writes, pruned) VALUES (?, 1, '') "
                        "ON CONFLICT DO UPDATE SET writes = writes + 1");
  add.bind(1, writer);
  add.exec();
}

void note_prune(SQLite::Database& sql, const std::string& writer, const std::string& before) {
  put(sql, writer, {0, before});
}

void join_writers(SQLite::Database& from, SQLite::Database& into) {
  for (const auto& [name, writer] : read_writers(from)) put(into, name, writer);
}

bool follows(const Writers& later, const Writers& earlier) {
  const auto has = [&](const auto& known) {
    const auto same = later.find(known.first);
    return (same == later.end() ? 0 : same->second.writes) >= known.second.writes;
  };
  return !earlier.empty() && std::all_of(earlier.begin(), earlier.end(), has);
}

std::string latest_prune(const Writers& writers) {
  std::string latest;
  for (const auto& [name, writer] : writers) latest = std::max(latest, writer.pruned);
  return latest;
}

}  // namespace redzone::store
