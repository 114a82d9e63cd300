// A tree that holds a TOML or a JSON document, so that one reader with one form of errors
// (table_reader.h) serves both.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.h"

namespace redzone {

struct Node;
using List = std::vector<Node>;
using Members = std::map<std::string, Node, std::less<>>;

struct Node {
  // std::monostate: null, or a type that no Redzone format uses, such as a date.
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Members> value;
  // Position of its first character, counted from 1; 0 if unknown, as in JSON.
  std::uint32_t line = 0, column = 0;
};

struct Document {
  std::string where;  // name of the document in errors, such as the file name
  Node root;          // a table
};

// Errors begin with `where` and the position, if known. A tree has at most 32 levels. `what` names
// what the text should be, such as "a plan": the error for invalid TOML is then "not a plan".
Result<Document> read_toml(std::string_view text, std::string where, std::string_view what);
Result<Document> read_json(std::string_view text, std::string where);

}  // namespace redzone
