#include "store/row.h"

#include "core/utf8.h"

namespace redzone::store {

void unsound_row(std::string_view of, std::string_view what) {
  throw Failure{
      {ErrorKind::unsound, fmt::format("the store is not sound: {}: {}{}", of, what, kCheckHint)}};
}

void refuse_row(std::string_view of, std::string_view what) {
  throw Failure{{ErrorKind::harness, fmt::format("{} cannot be stored: {}", of, what)}};
}

std::string cut_text(const std::string& text) {
  if (text.size() <= kMostTextBytes) return text;
  const std::string end = fmt::format(" ... ({} bytes in all)", text.size());
  return std::string(cut_utf8(text, kMostTextBytes - end.size())) + end;
}

std::string RowWriter::join(std::string_view format, std::string_view separator) const {
  std::string out;
  for (const auto& [name, cell] : cells_) {
    if (!out.empty()) out += separator;
    out += fmt::format(fmt::runtime(format), name);
  }
  return out;
}

int RowWriter::bind(SQLite::Statement& statement) const {
  struct Visitor {
    SQLite::Statement& statement;
    int index;
    void operator()(std::monostate) { statement.bind(index); }
    void operator()(std::int64_t v) { statement.bind(index, v); }
    void operator()(double v) { statement.bind(index, v); }
    void operator()(const std::string& v) { statement.bind(index, v); }
    void operator()(const Blob& v) {
      // SQLite would bind a null pointer as NULL.
      const char* data = v.bytes.empty() ? "" : v.bytes.data();
      statement.bind(index, static_cast<const void*>(data), static_cast<int>(v.bytes.size()));
    }
  };
  int index = 0;
  for (const auto& [name, cell] : cells_) std::visit(Visitor{statement, ++index}, cell);
  return index;
}

std::int64_t RowWriter::insert(SQLite::Database& sql, std::string_view table) const {
  SQLite::Statement statement(sql, fmt::format("INSERT INTO {} ({}) VALUES ({})", table,
                                               join("{}", ", "), join("?", ", ")));
  bind(statement);
  statement.exec();
  return sql.getLastInsertRowid();
}

void RowWriter::replace(SQLite::Database& sql, std::string_view table) const {
  SQLite::Statement statement(sql, fmt::format("INSERT OR REPLACE INTO {} ({}) VALUES ({})", table,
                                               join("{}", ", "), join("?", ", ")));
  bind(statement);
  statement.exec();
}

void RowWriter::update(SQLite::Database& sql, std::string_view table, std::int64_t id) const {
  SQLite::Statement statement(
      sql, fmt::format("UPDATE {} SET {} WHERE id = ?", table, join("{} = ?", ", ")));
  const int bound = bind(statement);
  statement.bind(bound + 1, id);
  statement.exec();
}

std::int64_t RowWriter::find(SQLite::Database& sql, std::string_view table) const {
  SQLite::Statement statement(
      sql, fmt::format("SELECT id FROM {} WHERE {}", table, join("{} = ?", " AND ")));
  bind(statement);
  return statement.executeStep() ? statement.getColumn(0).getInt64() : 0;
}

std::int64_t RowWriter::find_or_insert(SQLite::Database& sql, std::string_view table) const {
  const std::int64_t id = find(sql, table);
  return id != 0 ? id : insert(sql, table);
}

std::string ColumnNames::list(std::string_view alias) const {
  std::string out;
  for (const auto& name : names_)
    out += fmt::format("{}{}.{}", out.empty() ? "" : ", ", alias, name);
  return out;
}

}  // namespace redzone::store
