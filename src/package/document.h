// TOML and JSON as one plain tree, so that one reader with one form of errors serves both.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.h"

namespace redzone::package {

struct Node;
using List = std::vector<Node>;
using Members = std::map<std::string, Node, std::less<>>;

struct Node {
  // std::monostate: null, or a kind of value that no description has (a date).
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Members> value;
};

// The whole file; a usage error that names it when it cannot be read or has more than `most_bytes`.
Result<std::string> read_bytes(const std::filesystem::path& file, std::size_t most_bytes);

// A tree whose root is a table. Errors name the file.
Result<Node> parse_toml(std::string_view text, const std::filesystem::path& file);
Result<Node> parse_json(std::string_view text, const std::filesystem::path& file);

}  // namespace redzone::package
