#include "e2e/damage.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

using Random = std::mt19937;
using Names = std::vector<std::pair<std::string, std::string>>;  // table and column
namespace fs = std::filesystem;

std::size_t below(Random& random, std::size_t n) {
  return n == 0 ? 0 : std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
}

template <class T>
const T& one_of(Random& random, const std::vector<T>& of) {
  return of[below(random, of.size())];
}

void write_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

std::string flip_bits(const fs::path& file, Random& random) {
  std::string bytes = read_text(file);
  const std::size_t flips = 1 + below(random, 64);
  // Mostly after the header, which identifies the file.
  const std::size_t first = below(random, 4) == 0 ? 0 : 100;
  for (std::size_t i = 0; i < flips; ++i)
    bytes[first + below(random, bytes.size() - first)] ^= static_cast<char>(1u << below(random, 8));
  write_bytes(file, bytes);
  return std::to_string(flips) + " bits flipped";
}

std::string cut(const fs::path& file, Random& random) {
  const auto size = below(random, fs::file_size(file));
  fs::resize_file(file, size);
  return "cut to " + std::to_string(size) + " bytes";
}

constexpr std::size_t kPage = 4096;

std::string swap_pages(const fs::path& file, Random& random) {
  std::string bytes = read_text(file);
  const std::size_t pages = bytes.size() / kPage;
  const std::size_t a = below(random, pages), b = below(random, pages);
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(a * kPage),
                   bytes.begin() + static_cast<std::ptrdiff_t>((a + 1) * kPage),
                   bytes.begin() + static_cast<std::ptrdiff_t>(b * kPage));
  write_bytes(file, bytes);
  return "pages " + std::to_string(a) + " and " + std::to_string(b) + " swapped";
}

std::string fill_page(const fs::path& file, Random& random) {
  std::string bytes = read_text(file);
  const std::size_t page = 1 + below(random, bytes.size() / kPage - 1);
  const char with = below(random, 2) == 0 ? '\0' : '\xff';
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(page * kPage), kPage, with);
  write_bytes(file, bytes);
  return "page " + std::to_string(page) + " filled";
}

Names columns(SQLite::Database& sql) {
  SQLite::Statement query(sql,
                          "SELECT m.name, c.name FROM sqlite_master m JOIN "
                          "pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE "
                          "'sqlite_%' ORDER BY 1, 2");
  Names names;
  while (query.executeStep())
    names.emplace_back(query.getColumn(0).getString(), query.getColumn(1).getString());
  return names;
}

std::string repeated(const char* text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// A value of any kind, as SQL.
std::string value(Random& random) {
  static const std::vector<std::string> values{
      "-1",
      "-9223372036854775808",
      "9223372036854775807",
      "4294967296",
      "2",
      "1e300",
      "9e999",
      "-0.5",
      "''",
      "'x'",
      "'../../outside/x'",
      "x'00'",
      "x'c328fffe'",
      "CAST(x'c328fffe' AS TEXT)",
      "CAST(x'1b5b324a07c29b6d' AS TEXT)",
      "zeroblob(5000000)",
      "hex(zeroblob(1000000))",
      "'" + repeated("a.", 100'000) + "a = 1'",
      "'" + repeated("[", 100'000) + "'",
      "'" + repeated("{\"calls\":[", 50'000) + "'",
      "'{}'",
      "'[]'",
      "'redzone_plan = 1'",
  };
  return one_of(random, values);
}

std::string set_value(SQLite::Database& sql, Random& random) {
  const auto [table, column] = one_of(random, columns(sql));
  const std::string what = value(random);
  // All rows, or one.
  const std::string rows = below(random, 2) == 0 ? ""
                                                 : " WHERE " + column + " = (SELECT " + column +
                                                       " FROM " + table + " LIMIT 1)";
  sql.exec("UPDATE OR IGNORE " + table + " SET " + column + " = " + what + rows);
  return table + "." + column + " = " + what.substr(0, 40);
}

std::string change_number(SQLite::Database& sql, Random& random) {
  const auto [table, column] = one_of(random, columns(sql));
  const std::string how =
      one_of<std::string>(random, {" * -1", " + 1", " - 1", " * 1000000007", " / 2"});
  sql.exec("UPDATE OR IGNORE " + table + " SET " + column + " = " + column + how);
  return table + "." + column + how;
}

// Edits part of a text: a plan, an observation, a time or a name.
std::string change_text(SQLite::Database& sql, Random& random) {
  const std::vector<std::pair<std::string, std::string>> texts{
      {"plans", "text"},  {"trials", "observation"}, {"trials", "call_order"},
      {"plans", "hash"},  {"ledger", "at"},          {"findings", "oracle"},
      {"trials", "kind"}, {"findings", "target"},    {"findings", "kind"}};
  const auto [table, column] = one_of(random, texts);
  const std::vector<std::pair<std::string, std::string>> changes{
      {"'0'", "'9'"},         {"'1'", "'-1'"},      {"'='", "'=='"},      {"'\"'", "''"},
      {"'call'", "'replay'"}, {"'seed'", "'sead'"}, {"'true'", "'2'"},    {"'puzzle.'", "'../'"},
      {"'N'", "'M'"},         {"'{'", "'[{'"},      {"':'", "':1e99999'"}};
  const auto [from, to] = one_of(random, changes);
  sql.exec("UPDATE OR IGNORE " + table + " SET " + column + " = replace(" + column + ", " + from +
           ", " + to + ")");
  return table + "." + column + ": " + from + " to " + to;
}

// Writes impossible counts.
std::string break_counts(SQLite::Database& sql, Random& random) {
  const std::string table =
      one_of<std::string>(random, {"findings", "attributions", "probes", "night_replays"});
  const std::string value = one_of<std::string>(random, {"runs + 1", "-1", "-runs - 1"});
  const std::string column = table == "probes" ? "passed" : "failed_runs";
  const std::string broken = table == "probes" ? "-1" : value;
  sql.exec("UPDATE " + table + " SET " + column + " = " + broken);
  return table + "." + column + " = " + broken;
}

// Writes a text whose tree would exhaust the stack.
std::string nest_deeply(SQLite::Database& sql, Random& random) {
  const bool plan = below(random, 2) == 0;
  SQLite::Statement set(
      sql, plan ? "UPDATE plans SET text = text || ?" : "UPDATE trials SET observation = ?");
  set.bind(1, plan ? "\n[" + repeated("a.", 200'000) + "a]\n" : repeated("{\"calls\":[", 100'000));
  set.exec();
  return plan ? "deep plans" : "deep observations";
}

std::string delete_rows(SQLite::Database& sql, Random& random) {
  const std::string table = one_of(random, columns(sql)).first;
  sql.exec("DELETE FROM " + table);
  return table + " emptied";
}

std::string drop_table(SQLite::Database& sql, Random& random) {
  const std::string table = one_of(random, columns(sql)).first;
  sql.exec("DROP TABLE " + table);
  return table + " dropped";
}

std::string rename_column(SQLite::Database& sql, Random& random) {
  const auto [table, column] = one_of(random, columns(sql));
  sql.exec("ALTER TABLE " + table + " RENAME COLUMN " + column +
           " TO \"gone; DROP TABLE findings; --\"");
  return table + "." + column + " renamed";
}

std::string set_version(SQLite::Database& sql, Random& random) {
  const std::string version = std::to_string(below(random, 9));
  sql.exec("PRAGMA user_version = " + version);
  return "version " + version;
}

// Changes the definition of a table, as SQLite stores it.
std::string change_schema(SQLite::Database& sql, Random& random) {
  const std::string from = one_of<std::string>(random, {"NOT NULL", "INTEGER", "TEXT", "UNIQUE"});
  const std::string to = one_of<std::string>(random, {"", "BLOB", "DEFAULT 7"});
  sql.exec("PRAGMA writable_schema = ON");
  sql.exec("UPDATE sqlite_master SET sql = replace(sql, '" + from + "', '" + to +
           "') WHERE type = 'table'");
  return from + " of the schema is '" + to + "'";
}

}  // namespace

std::string damage(const fs::path& store, std::uint32_t number) {
  using OfFile = std::string (*)(const fs::path&, Random&);
  using OfRows = std::string (*)(SQLite::Database&, Random&);
  static constexpr std::array<OfFile, 4> kOfFile{flip_bits, cut, swap_pages, fill_page};
  // Values most often, since there are most of them.
  static constexpr std::array<OfRows, 14> kOfRows{
      set_value,     set_value,     set_value,   set_value,    change_number,
      change_number, break_counts,  nest_deeply, change_text,  delete_rows,
      drop_table,    rename_column, set_version, change_schema};
  Random random(number);
  const std::size_t way = number % (kOfFile.size() + kOfRows.size());
  if (way < kOfFile.size()) return kOfFile[way](store, random);
  SQLite::Database sql(store.string(), SQLite::OPEN_READWRITE);
  sql.exec("PRAGMA foreign_keys = OFF");
  const OfRows change = kOfRows[way - kOfFile.size()];
  // SQLite rejects some changes.
  for (int tries = 0; tries < 20; ++tries) {
    try {
      const std::string what = change(sql, random);
      sql.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      return what;
    } catch (const SQLite::Exception&) {
    }
  }
  throw std::runtime_error("SQLite takes no change of this kind");
}

}  // namespace redzone::e2e
