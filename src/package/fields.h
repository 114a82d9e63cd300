// Reads typed fields of one table. Every error names the file and the field, and is thrown: a
// reader of a package has dozens of them, and read_package() turns the first into a Result.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "package/document.h"
#include "package/expression.h"

namespace redzone::package {

// "DIR/target.toml: dim[N].min: ..."; never leaves src/package.
struct FieldError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One table of `file`; `path` is where it stands there, "" for the root. Borrows the tree.
class Fields {
 public:
  Fields(const std::filesystem::path& file, std::string path, const Node& table);

  // The error for a field, or for the table itself with "".
  FieldError error(std::string_view field, std::string_view message) const;

  bool has(std::string_view field) const { return table_->contains(field); }
  // Those without a default are required. Texts are printed, so one with a control character, or
  // one that no reader would read to its end, is an error.
  std::string text(std::string_view field);
  std::string text(std::string_view field, std::string_view otherwise);
  std::int64_t integer(std::string_view field);
  std::int64_t integer(std::string_view field, std::int64_t otherwise);
  std::int64_t integer_in(std::string_view field, std::int64_t least, std::int64_t most);
  double number(std::string_view field);  // finite; an integer will do
  bool flag(std::string_view field);
  // An identifier.
  std::string name(std::string_view field);
  // The index in `allowed`.
  std::size_t one_of(std::string_view field, std::span<const std::string_view> allowed);
  std::vector<std::int64_t> integers(std::string_view field);
  std::vector<std::string> texts(std::string_view field);
  // A string or an integer, over `known` names.
  Expression expression(std::string_view field, std::span<const std::string> known);
  std::vector<Expression> expressions(std::string_view field, std::span<const std::string> known);
  // Of any kind, for the caller to look at.
  const Node& any(std::string_view field);

  Fields table(std::string_view field);
  // The tables of a list, each called by its `name` or its number; none when there is no list.
  std::vector<Fields> tables(std::string_view field);
  // Name and value of each member, all taken.
  const Members& members();

  // All fields were asked for; the first that was not is an error.
  void done() const;

 private:
  const Node* find(std::string_view field);
  const Node& require(std::string_view field);
  std::string where(std::string_view field) const;
  Expression parsed(const std::string& field, const Node& node,
                    std::span<const std::string> known) const;

  const std::filesystem::path* file_;
  std::string path_;
  const Members* table_;
  std::set<std::string, std::less<>> taken_;
};

// [A-Za-z_][A-Za-z0-9_]*
bool is_identifier(std::string_view text);

}  // namespace redzone::package
