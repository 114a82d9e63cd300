// Rows as lists of named columns, so that each table's columns are named once (columns.h) for
// writing and for reading. Internal to the store.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "store/database.h"

namespace redzone::store {

// SQLite has one integer type; unsigned numbers keep their bits.
template <class T>
concept Integer = std::integral<T>;
template <class T>
concept Enumerator = std::is_enum_v<T>;

struct Blob {
  std::string bytes;
  auto operator<=>(const Blob&) const = default;
};

// Collects columns and writes them as one row.
class RowWriter {
 public:
  using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;
  using Cells = std::vector<std::pair<std::string, Cell>>;

  template <Integer T>
  void operator()(const std::string& name, T value) {
    add(name, static_cast<std::int64_t>(value));
  }
  void operator()(const std::string& name, double value) { add(name, value); }
  void operator()(const std::string& name, const std::string& value) { add(name, value); }
  void operator()(const std::string& name, Blob value) { add(name, std::move(value)); }
  template <Enumerator E>
  void operator()(const std::string& name, E value, E) {
    add(name, std::string(name_of(value)));
  }
  void null(const std::string& name) { add(name, std::monostate{}); }

  // In the order in which they were added.
  const Cells& cells() const { return cells_; }

  // Each throws SQLite::Exception.
  std::int64_t insert(SQLite::Database& sql, std::string_view table) const;
  void update(SQLite::Database& sql, std::string_view table, std::int64_t id) const;
  // Inserts it in the place of what has the same primary key.
  void replace(SQLite::Database& sql, std::string_view table) const;
  // The id of a row with these columns, or 0.
  std::int64_t find(SQLite::Database& sql, std::string_view table) const;
  std::int64_t find_or_insert(SQLite::Database& sql, std::string_view table) const;

 private:
  void add(const std::string& name, Cell value) { cells_.emplace_back(name, std::move(value)); }
  std::string join(std::string_view format, std::string_view separator) const;
  int bind(SQLite::Statement& statement) const;

  Cells cells_;
};

// Reads columns in the order of the SELECT. Enumerators that this build does not know are Failures.
class RowReader {
 public:
  explicit RowReader(SQLite::Statement& statement) : statement_(statement) {}

  template <Integer T>
  void operator()(const char*, T& value) {
    value = static_cast<T>(next().getInt64());
  }
  void operator()(const char*, double& value) { value = next().getDouble(); }
  void operator()(const char*, std::string& value) { value = next().getString(); }
  template <Enumerator E>
  void operator()(const char* name, E& value, E last) {
    const std::string text = next().getString();
    using Number = std::underlying_type_t<E>;
    for (Number n = 0; n <= static_cast<Number>(last); ++n)
      if (name_of(static_cast<E>(n)) == text) {
        value = static_cast<E>(n);
        return;
      }
    throw Failure{{ErrorKind::harness, fmt::format("the store holds {} '{}', which this build "
                                                   "does not know: use a newer redzone",
                                                   name, text)}};
  }

  std::int64_t integer() { return next().getInt64(); }
  std::string text() { return next().getString(); }

 private:
  SQLite::Column next() { return statement_.getColumn(next_++); }

  SQLite::Statement& statement_;
  int next_ = 0;
};

// Collects the names of columns for a SELECT.
class ColumnNames {
 public:
  template <class... T>
  void operator()(const char* name, const T&...) {
    names_.emplace_back(name);
  }
  // "f.kind, f.target" for the table alias "f".
  std::string list(std::string_view alias) const;

 private:
  std::vector<std::string> names_;
};

// The columns of T, for a SELECT that a RowReader reads.
template <class T>
std::string column_list(std::string_view alias) {
  ColumnNames names;
  const T sample{};
  columns(names, sample);
  return names.list(alias);
}

}  // namespace redzone::store
