#include "store/schema_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <iterator>

#include "core/terminal.h"

namespace redzone::store {
namespace {

SQLite::Database store_after(Migrations steps) {
  SQLite::Database made_now(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  for (const auto step : steps) made_now.exec(std::string(step));
  return made_now;
}

std::vector<std::string> columns_of_table(SQLite::Database& sql, const std::string& table) {
  SQLite::Statement query(sql, "SELECT name FROM pragma_table_xinfo(?) ORDER BY cid");
  query.bind(1, table);
  std::vector<std::string> columns;
  while (query.executeStep()) columns.push_back(query.getColumn(0).getString());
  return columns;
}

Columns columns_of(SQLite::Database& sql) {
  SQLite::Statement query(sql, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1");
  Columns columns;
  while (query.executeStep()) {
    const std::string table = query.getColumn(0).getString();
    columns[table] = columns_of_table(sql, table);
  }
  return columns;
}

// A row of sqlite_master. `sql` is the statement that created the object, as SQLite stores it: the
// only record of constraints and foreign keys, and empty for an index that belongs to a constraint.
struct SchemaObject {
  std::string type, name, table, sql;
  auto operator<=>(const SchemaObject&) const = default;

  bool has_name_of(const SchemaObject& other) const {
    return type == other.type && name == other.name;
  }
};
using SchemaObjects = std::vector<SchemaObject>;

// Removes the quotes that ALTER TABLE puts around a name.
std::string without_quotes(std::string sql) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (std::size_t open = sql.find('"'); open != std::string::npos;
       open = sql.find('"', open + 1)) {
    const auto first = sql.begin() + static_cast<std::ptrdiff_t>(open) + 1;
    const auto close = std::find_if_not(first, sql.end(), is_word);
    if (close == first || close == sql.end() || *close != '"') continue;
    sql.erase(close);
    sql.erase(open, 1);
  }
  return sql;
}

// Sorted. Omits the tables that ANALYZE creates; SQLite itself refuses other definitions of them.
SchemaObjects objects_of(SQLite::Database& sql) {
  SQLite::Statement query(
      sql,
      "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NULL OR sql NOT IN "
      "('CREATE TABLE sqlite_stat1(tbl,idx,stat)', "
      "'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)')");
  SchemaObjects objects;
  while (query.executeStep())
    objects.push_back({query.getColumn(0).getString(), query.getColumn(1).getString(),
                       query.getColumn(2).getString(),
                       without_quotes(query.getColumn(3).getString())});
  std::sort(objects.begin(), objects.end());
  return objects;
}

SchemaObjects without(const SchemaObjects& all, const SchemaObjects& these) {
  SchemaObjects rest;
  std::set_difference(all.begin(), all.end(), these.begin(), these.end(), std::back_inserter(rest));
  return rest;
}

// The first name in `names` that is not in `others`; null if there is none.
const std::string* one_more(const std::vector<std::string>& names,
                            const std::vector<std::string>& others) {
  const auto it = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(others.begin(), others.end(), name) == others.end();
  });
  return it == names.end() ? nullptr : &*it;
}

// The difference between an object and the object of that name in a current store. Does not query
// the columns of a virtual table, because SQLite would run the table's module.
std::string difference(const SchemaObject& object, SQLite::Database& sql,
                       SQLite::Database& made_now) {
  if (object.sql.starts_with("CREATE TABLE ")) {
    const auto here = columns_of_table(sql, object.name);
    const auto known = columns_of_table(made_now, object.name);
    if (const auto* name = one_more(known, here)) return fmt::format("has no column '{}'", *name);
    if (const auto* name = one_more(here, known))
      return fmt::format("has a column '{}', which no store has", printable(*name));
  }
  return "is not defined as in a store";
}

bool is_named(const SchemaObjects& objects, const SchemaObject& like) {
  return std::any_of(objects.begin(), objects.end(),
                     [&](const auto& object) { return object.has_name_of(like); });
}

}  // namespace

const Columns& known_columns() {
  static const Columns known = [] {
    auto made_now = store_after(migrations());
    return columns_of(made_now);
  }();
  return known;
}

std::vector<std::string> schema_problems(SQLite::Database& sql, Migrations steps) {
  auto made_now = store_after(steps);
  const SchemaObjects here = objects_of(sql), known = objects_of(made_now);
  std::vector<std::string> problems;
  for (const auto& object : without(here, known))
    problems.push_back(
        is_named(known, object)
            ? fmt::format("{} {} {}", object.type, object.name, difference(object, sql, made_now))
            : fmt::format("it holds {} '{}', which no store has", printable(object.type),
                          printable(object.name)));
  for (const auto& object : without(known, here))
    if (!is_named(here, object))
      problems.push_back(fmt::format("{} {} is missing", object.type, object.name));
  return problems;
}

}  // namespace redzone::store
