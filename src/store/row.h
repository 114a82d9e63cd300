// Rows as lists of named columns, so that columns.h names the columns of each table once for
// writing and reading. Input may be any file: a RowReader returns only values that fit the member's
// type and rows that meet their conditions (holds()). Internal to the store.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/enum_names.h"
#include "store/database.h"

namespace redzone::store {

// SQLite has only signed 64-bit integers; unsigned numbers keep their bits.
template <class T>
concept Integer = std::integral<T>;

// For a row that no version of Redzone can have written. Throws a Failure.
[[noreturn]] void unsound_row(std::string_view of, std::string_view what);
// For a row that must not be written because a reader would refuse it. Throws a Failure.
[[noreturn]] void refuse_row(std::string_view of, std::string_view what);

// The end of unsound_row()'s message.
inline constexpr std::string_view kCheckHint = "; 'redzone db check' lists all problems";

// Longer texts are truncated when written and refused when read. For documents (plans and
// observations) the limits of their parsers apply instead.
inline constexpr std::size_t kMostTextBytes = std::size_t{1} << 20;
std::string cut_text(const std::string& text);

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
  void operator()(const std::string& name, const std::string& value) { add(name, cut_text(value)); }
  void document(const std::string& name, std::string value) { add(name, std::move(value)); }
  void operator()(const std::string& name, Blob value) { add(name, std::move(value)); }
  template <NamedEnum E>
  void operator()(const std::string& name, E value) {
    add(name, std::string(name_of(value)));
  }
  void null(const std::string& name) { add(name, std::monostate{}); }
  // A condition of the row, as in RowReader: a row that violates it is not written.
  void holds(bool condition, std::string_view what) {
    if (!condition) refuse_row("a new row", what);
  }

  // In the order of addition.
  const Cells& cells() const { return cells_; }

  // Each throws SQLite::Exception.
  std::int64_t insert(SQLite::Database& sql, std::string_view table) const;
  void update(SQLite::Database& sql, std::string_view table, std::int64_t id) const;
  // Inserts the row in place of one with the same primary key.
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

// Reads columns in the order of the SELECT. Throws a Failure that names the row (`of`) for a value
// of another type or out of range of its member, an unknown enumerator, or a violated condition.
class RowReader {
 public:
  explicit RowReader(SQLite::Statement& statement, std::string of = "a row")
      : statement_(statement), of_(std::move(of)) {}
  // Sets the row's name for errors, after the columns that identify the row were read.
  void is(std::string of) { of_ = std::move(of); }

  template <Integer T>
  void operator()(const char* name, T& value) {
    const std::int64_t number = integer();
    // Unsigned 64-bit numbers keep their bits.
    constexpr bool kAnyBits = std::is_unsigned_v<T> && sizeof(T) == sizeof number;
    if (!kAnyBits && !fits<T>(number)) unsound_row(of_, fmt::format("{} is {}", name, number));
    value = static_cast<T>(number);
  }
  void operator()(const char* name, double& value) {
    const SQLite::Column cell = next();
    value = cell.getDouble();
    if ((!cell.isFloat() && !cell.isInteger()) || !std::isfinite(value))
      unsound_row(of_, fmt::format("{} is not a number", name));
  }
  void operator()(const char*, std::string& value) { value = text(); }
  template <NamedEnum E>
  void operator()(const char* name, E& value) {
    const std::string text = this->text();
    if (const auto known = value_named<E>(text)) {
      value = *known;
      return;
    }
    throw Failure{{ErrorKind::unsound,
                   fmt::format("{}: the store holds {} '{}', which this build does not know: use a "
                               "newer redzone",
                               of_, name, text)}};
  }
  void holds(bool condition, std::string_view what) const {
    if (!condition) unsound_row(of_, what);
  }

  std::int64_t integer() {
    const SQLite::Column cell = next();
    if (!cell.isInteger()) wrong_type("integer");
    return cell.getInt64();
  }
  std::string text() {
    const SQLite::Column cell = next();
    if (!cell.isText()) wrong_type("text");
    if (static_cast<std::size_t>(cell.getBytes()) > kMostTextBytes)
      unsound_row(
          of_, fmt::format("{} has {} bytes, at most {} are read",
                           statement_.getColumnName(next_ - 1), cell.getBytes(), kMostTextBytes));
    return cell.getString();
  }
  std::string document() {
    const SQLite::Column cell = next();
    if (!cell.isText()) wrong_type("text");
    return cell.getString();
  }
  std::string bytes() {
    const SQLite::Column cell = next();
    if (!cell.isBlob()) wrong_type("blob");
    return cell.getString();
  }

 private:
  SQLite::Column next() { return statement_.getColumn(next_++); }
  [[noreturn]] void wrong_type(std::string_view wanted) const {
    unsound_row(of_,
                fmt::format("{} is not of type {}", statement_.getColumnName(next_ - 1), wanted));
  }
  // Supports bool, which std::in_range does not accept.
  template <Integer T>
  static bool fits(std::int64_t number) {
    return static_cast<std::int64_t>(static_cast<T>(number)) == number;
  }

  SQLite::Statement& statement_;
  std::string of_;
  int next_ = 0;
};

// Collects column names for a SELECT.
class ColumnNames {
 public:
  template <class... T>
  void operator()(const char* name, const T&...) {
    names_.emplace_back(name);
  }
  void holds(bool, std::string_view) {}
  // "f.kind, f.target" for the table alias "f".
  std::string list(std::string_view alias) const;

 private:
  std::vector<std::string> names_;
};

// The columns of T for a SELECT whose rows a RowReader reads.
template <class T>
std::string column_list(std::string_view alias) {
  ColumnNames names;
  const T sample{};
  columns(names, sample);
  return names.list(alias);
}

}  // namespace redzone::store
