#include "store/schema_columns.h"

#include "store/schema.h"

namespace redzone::store {

Columns columns_of(SQLite::Database& sql) {
  SQLite::Statement query(sql,
                          "SELECT m.name, c.name FROM sqlite_master m JOIN "
                          "pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1, c.cid");
  Columns columns;
  while (query.executeStep())
    columns[query.getColumn(0).getString()].push_back(query.getColumn(1).getString());
  return columns;
}

const Columns& known_columns() {
  static const Columns known = [] {
    SQLite::Database made_now(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    for (const auto step : migrations()) made_now.exec(std::string(step));
    return columns_of(made_now);
  }();
  return known;
}

}  // namespace redzone::store
