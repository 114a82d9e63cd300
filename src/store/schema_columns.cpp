#include "store/schema_columns.h"

#include "store/schema.h"

namespace redzone::store {
namespace {

template <class Of>
auto of_a_new_store(Of of) {
  SQLite::Database made_now(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  for (const auto step : migrations()) made_now.exec(std::string(step));
  return of(made_now);
}

}  // namespace

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
  static const Columns known = of_a_new_store(columns_of);
  return known;
}

Definitions definitions_of(SQLite::Database& sql) {
  SQLite::Statement query(sql, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL");
  Definitions definitions;
  while (query.executeStep())
    definitions.emplace(query.getColumn(0).getString(), query.getColumn(1).getString());
  return definitions;
}

const Definitions& known_definitions() {
  static const Definitions known = of_a_new_store(definitions_of);
  return known;
}

}  // namespace redzone::store
