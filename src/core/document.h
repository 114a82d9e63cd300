// TOML and JSON as one plain tree, so that one reader of it (fields.h), with one form of errors,
// serves plans, [expect] tables, package descriptions and what compilers write beside their code.
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
  // std::monostate: null, or a kind of value that no description has (a date).
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Members> value;
  // Where it begins in the text, from 1 on; 0 where that is not known, as in JSON.
  std::uint32_t line = 0, column = 0;
};

struct Document {
  std::string where;  // names the text in errors
  Node root;          // a table
};

// Errors begin with `where`, and with the place in it where that is known. Trees are at most 32
// levels deep. `what` is what the text should be, "a plan": no TOML is "not a plan".
Result<Document> read_toml(std::string_view text, std::string where, std::string_view what);
Result<Document> read_json(std::string_view text, std::string where);

}  // namespace redzone
