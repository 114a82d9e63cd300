// Reads and checks the fields of one table of a TOML or JSON document. Plans, [expect] tables,
// package descriptions and compiler metadata are all read with it. An error names the document, the
// position and the field. It is thrown, because a reader has dozens of fields; checked_read() turns
// the first error into a Result.
//
//     plan.toml:9:10: step[0].repeat: 0 is not in 1..4096
//     add.json: target.arch: an integer is expected, not a string
#pragma once

#include <redzone/spec.h>

#include <cstdint>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/document.h"
#include "core/enum_names.h"
#include "core/error.h"

namespace redzone {

// what() is one line for any document. checked_read() catches it.
struct FieldError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One table. The document must outlive it.
class TableReader {
 public:
  explicit TableReader(const Document& document);
  explicit TableReader(const Document&& document) = delete;

  // The error for a field, or for the table itself if `field` is "". `field` may be a path
  // ("knob[a].values"); the error then has no position. With `node` the error has the position of
  // `node`.
  FieldError error(std::string_view field, std::string_view message) const;
  FieldError error(std::string_view field, const Node& node, std::string_view message) const;

  // Does not mark the field as read.
  bool has(std::string_view field);
  // The names of all fields, ascending.
  std::vector<std::string> names() const;
  // Marks the field as read, because another reader reads it.
  void skip(std::string_view field) { taken_.emplace(field); }

  // A field without a default is required.
  std::int64_t integer(std::string_view field);
  std::int64_t integer(std::string_view field, std::int64_t otherwise);
  std::int64_t integer_in(std::string_view field, std::int64_t least, std::int64_t most);
  std::int64_t integer_in(std::string_view field, std::int64_t least, std::int64_t most,
                          std::int64_t otherwise);
  std::uint64_t not_negative(std::string_view field, std::uint64_t otherwise);
  double number(std::string_view field);  // finite; may be written as an integer
  bool flag(std::string_view field);
  bool flag(std::string_view field, bool otherwise);
  // Any string.
  std::string string(std::string_view field);
  // A string that is printed later: a control character, or an excessive length, is an error.
  std::string text(std::string_view field);
  std::string text(std::string_view field, std::string_view otherwise);
  // An identifier.
  std::string name(std::string_view field);
  // The index in `allowed`.
  std::size_t one_of(std::string_view field, std::span<const std::string_view> allowed);
  // The enumerator with that name. An enumerator may have older names; errors list the first.
  template <NamedEnum E>
  E named(std::string_view field) {
    if (const auto known = value_named<E>(text(field))) return *known;
    return kEnumTable<E>.names[one_of(field, texts_of<E>())].value;
  }
  Value value(std::string_view field);  // an integer or any string
  std::vector<std::int64_t> integers(std::string_view field);
  std::vector<std::string> texts(std::string_view field);
  // A field of any type.
  const Node& any(std::string_view field);
  const List& list(std::string_view field, std::string_view what = "a list");

  TableReader table(std::string_view field);
  // The tables of a list; empty if the field is absent. Errors identify a table by its `name`
  // field, or by its index if it has none.
  std::vector<TableReader> tables(std::string_view field);

  // Throws an error for the first field that was not read.
  void done() const;

 private:
  TableReader(const std::string& where, std::string path, const Node& table);

  const Node* find(std::string_view field);
  FieldError wrong(std::string_view field, std::string_view want, const Node& found) const;
  std::string path_of(std::string_view field) const;
  template <class T>
  const T& as(std::string_view field, std::string_view want);

  const std::string* where_;
  std::string path_;  // of the table, "" for the root
  const Node* node_;
  const Members* table_;
  std::set<std::string, std::less<>> taken_;
};

// The value of read(), or the FieldError that it threw, as a usage error.
template <class Read>
auto checked_read(Read read) -> Result<decltype(read())> {
  try {
    return read();
  } catch (const FieldError& e) {
    return usage_error(e.what());
  }
}

// [A-Za-z_][A-Za-z0-9_]*
bool is_identifier(std::string_view text);

}  // namespace redzone
