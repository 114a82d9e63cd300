// Reads typed fields of one table: the one reader of plans, [expect] tables, package descriptions
// and metadata. Every error names the text, the place and the field, and is thrown: a reader has
// dozens of fields, and read_fields() turns the first error into a Result.
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

// Its text is one line, whatever stands in the document; never leaves read_fields().
struct FieldError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One table. Borrows the document.
class Fields {
 public:
  explicit Fields(const Document& document);
  explicit Fields(const Document&& document) = delete;

  // The error for a field, or for the table itself with "". A path ("knob[a].values") will do, and
  // then no place is given. With `node`, that one's place.
  FieldError error(std::string_view field, std::string_view message) const;
  FieldError error(std::string_view field, const Node& node, std::string_view message) const;

  // Asking alone does not take a field that is there.
  bool has(std::string_view field);
  // Of all fields, ascending.
  std::vector<std::string> names() const;
  // Somebody else reads it.
  void skip(std::string_view field) { taken_.emplace(field); }

  // Those without a default are required.
  std::int64_t integer(std::string_view field);
  std::int64_t integer(std::string_view field, std::int64_t otherwise);
  std::int64_t integer_in(std::string_view field, std::int64_t least, std::int64_t most);
  std::int64_t integer_in(std::string_view field, std::int64_t least, std::int64_t most,
                          std::int64_t otherwise);
  std::uint64_t not_negative(std::string_view field, std::uint64_t otherwise);
  double number(std::string_view field);  // finite; an integer will do
  bool flag(std::string_view field);
  bool flag(std::string_view field, bool otherwise);
  // Any text.
  std::string string(std::string_view field);
  // Texts that are printed: one with a control character, or one that no reader would read to its
  // end, is an error.
  std::string text(std::string_view field);
  std::string text(std::string_view field, std::string_view otherwise);
  // An identifier.
  std::string name(std::string_view field);
  // The index in `allowed`.
  std::size_t one_of(std::string_view field, std::span<const std::string_view> allowed);
  // The enumerator of that name, or of that first name.
  template <NamedEnum E>
  E named(std::string_view field) {
    if (const auto known = value_named<E>(text(field))) return *known;
    return kEnumTable<E>.names[one_of(field, texts_of<E>())].value;
  }
  Value value(std::string_view field);  // an integer or any text
  std::vector<std::int64_t> integers(std::string_view field);
  std::vector<std::string> texts(std::string_view field);
  // Of any kind, for the caller to look at.
  const Node& any(std::string_view field);
  const List& list(std::string_view field, std::string_view what = "a list");

  Fields table(std::string_view field);
  // The tables of a list, each called by its `name` or its number; none when there is no list.
  std::vector<Fields> tables(std::string_view field);

  // All fields were asked for; the first that was not is an error.
  void done() const;

 private:
  Fields(const std::string& where, std::string path, const Node& table);

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

// What `read` returns, or the first error that it threw, as a usage error.
template <class Read>
auto read_fields(Read read) -> Result<decltype(read())> {
  try {
    return read();
  } catch (const FieldError& e) {
    return usage_error(e.what());
  }
}

// [A-Za-z_][A-Za-z0-9_]*
bool is_identifier(std::string_view text);

}  // namespace redzone
