#include "store/copy_rows.h"

#include "store/row.h"

namespace redzone::store {

void copy_rows(SQLite::Database& from, SQLite::Database& into, const std::string& table,
               const std::string& key, std::int64_t value, const Remap& remap) {
  SQLite::Statement query(from, fmt::format("SELECT * FROM {} WHERE {} = ?", table, key));
  query.bind(1, value);
  while (query.executeStep()) {
    RowWriter row;
    for (int i = 0; i < query.getColumnCount(); ++i) {
      const SQLite::Column cell = query.getColumn(i);
      const std::string name = query.getColumnName(i);
      if (name == "id") continue;
      const auto changed = remap.find(name);
      if (cell.isNull())
        row.null(name);
      else if (changed != remap.end())
        row(name, changed->second(cell.getInt64()));
      else if (cell.isInteger())
        row(name, cell.getInt64());
      else if (cell.isFloat())
        row(name, cell.getDouble());
      else if (cell.isBlob())
        row(name, Blob{cell.getString()});
      else
        row(name, cell.getString());
    }
    row.insert(into, table);
  }
}

std::int64_t copy_plan(SQLite::Database& from, SQLite::Database& into, std::int64_t id) {
  SQLite::Statement query(from, "SELECT hash, text FROM plans WHERE id = ?");
  query.bind(1, id);
  query.executeStep();
  RowWriter row;
  row("hash", query.getColumn(0).getString());
  if (const std::int64_t known = row.find(into, "plans"); known != 0) return known;
  row("text", query.getColumn(1).getString());
  return row.insert(into, "plans");
}

}  // namespace redzone::store
