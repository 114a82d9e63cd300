#include "store/copy_rows.h"

#include <fmt/ranges.h>

#include <vector>

#include "store/row.h"

namespace redzone::store {

namespace {

// A column of the query and its mapping. The column `id` is not copied.
struct Copied {
  int column = 0;
  const std::function<std::int64_t(std::int64_t)>* changed = nullptr;  // null: copied unchanged
};

void bind_cell(SQLite::Statement& add, int at, const SQLite::Column& cell, const Copied& copied) {
  if (cell.isNull())
    add.bind(at);
  else if (copied.changed != nullptr)
    add.bind(at, (*copied.changed)(cell.getInt64()));
  else if (cell.isInteger())
    add.bind(at, cell.getInt64());
  else if (cell.isFloat())
    add.bind(at, cell.getDouble());
  else if (cell.isBlob() && cell.getBytes() > 0)
    add.bind(at, cell.getBlob(), cell.getBytes());
  else if (cell.isBlob())
    add.bind(at, static_cast<const void*>(""), 0);  // a null pointer would be bound as NULL
  else
    add.bind(at, cell.getString());
}

}  // namespace

void copy_rows(SQLite::Database& from, SQLite::Database& into, const std::string& table,
               const std::vector<std::string>& columns, const std::string& key, std::int64_t value,
               const Remap& remap, Repeated repeated) {
  std::vector<Copied> copied;
  std::vector<std::string> names;
  for (const auto& name : columns) {
    if (name == "id") continue;
    const auto changed = remap.find(name);
    copied.push_back(
        {static_cast<int>(names.size()), changed == remap.end() ? nullptr : &changed->second});
    names.push_back(name);
  }
  SQLite::Statement query(
      from, fmt::format("SELECT {} FROM {} WHERE {} = ?", fmt::join(names, ", "), table, key));
  query.bind(1, value);
  std::vector<std::string> values, equal;  // "?1", "finding_id IS ?1"
  for (std::size_t i = 0; i < names.size(); ++i) {
    values.push_back(fmt::format("?{}", i + 1));
    equal.push_back(fmt::format("{} IS {}", names[i], values[i]));
  }
  const std::string unless = repeated == Repeated::left_out
                                 ? fmt::format(" WHERE NOT EXISTS (SELECT 1 FROM {} WHERE {})",
                                               table, fmt::join(equal, " AND "))
                                 : "";
  // Prepared once, because a night may have 10,000 replays.
  SQLite::Statement add(into, fmt::format("INSERT INTO {} ({}) SELECT {}{}", table,
                                          fmt::join(names, ", "), fmt::join(values, ", "), unless));
  while (query.executeStep()) {
    for (std::size_t i = 0; i < copied.size(); ++i)
      bind_cell(add, static_cast<int>(i) + 1, query.getColumn(copied[i].column), copied[i]);
    add.exec();
    add.reset();
  }
}

std::int64_t copy_plan(SQLite::Database& from, SQLite::Database& into, std::int64_t id) {
  SQLite::Statement query(from, "SELECT hash, text FROM plans WHERE id = ?");
  query.bind(1, id);
  query.executeStep();
  RowWriter row;
  row("hash", query.getColumn(0).getString());
  if (const std::int64_t known = row.find(into, "plans"); known != 0) return known;
  row.document("text", query.getColumn(1).getString());
  return row.insert(into, "plans");
}

}  // namespace redzone::store
