#include "core/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/json.h"
#include "core/toml.h"

namespace redzone {
namespace {

// Deeper than any plan or package file, and far below what would overflow the stack.
constexpr int kMostDepth = 32;

struct TooDeep {};

Node from_toml(const toml::node& node, int depth) {
  if (depth > kMostDepth) throw TooDeep{};
  const auto& begin = node.source().begin;
  Node out{{}, begin.line, begin.column};
  if (const auto* boolean = node.as_boolean())
    out.value = boolean->get();
  else if (const auto* integer = node.as_integer())
    out.value = integer->get();
  else if (const auto* real = node.as_floating_point())
    out.value = real->get();
  else if (const auto* text = node.as_string())
    out.value = text->get();
  else if (const auto* array = node.as_array()) {
    auto& list = out.value.emplace<List>();
    for (const auto& element : *array) list.push_back(from_toml(element, depth + 1));
  } else if (const auto* table = node.as_table()) {
    auto& members = out.value.emplace<Members>();
    for (const auto& [key, element] : *table)
      members.emplace(std::string(key.str()), from_toml(element, depth + 1));
  }
  return out;
}

Node from_json(const nlohmann::json& json) {
  if (json.is_boolean()) return {json.get<bool>()};
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return {json.get<double>()};
  if (json.is_number_integer()) return {json.get<std::int64_t>()};
  if (json.is_number_float()) return {json.get<double>()};
  if (json.is_string()) return {json.get<std::string>()};
  if (json.is_array()) {
    List list;
    for (const auto& element : json) list.push_back(from_json(element));
    return {std::move(list)};
  }
  if (json.is_object()) {
    Members members;
    for (const auto& [key, element] : json.items()) members.emplace(key, from_json(element));
    return {std::move(members)};
  }
  return {};
}

// A message that a user can act on; the library's own messages describe its parser.
std::string json_problem(const nlohmann::json::exception& error, std::string_view text) {
  const auto* parse = dynamic_cast<const nlohmann::json::parse_error*>(&error);
  if (parse == nullptr) return "a number does not fit";
  if (parse->byte > text.size()) return "it ends too early";
  const std::string_view before = text.substr(0, parse->byte == 0 ? 0 : parse->byte - 1);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const auto line_begin = before.rfind('\n') + 1;  // 0 if there is no line break
  return fmt::format("line {}, column {} cannot be read", lines + 1,
                     before.size() - line_begin + 1);
}

}  // namespace

Result<Document> read_toml(std::string_view text, std::string where, std::string_view what) {
  const auto tree = parse_toml(text);
  if (!tree)
    return usage_error(
        fmt::format("{}: not {}: {}", tree.error().at(where), what, tree.error().what));
  try {
    Node root = from_toml(*tree, 0);
    return Document{std::move(where), std::move(root)};
  } catch (const TooDeep&) {
    return usage_error(fmt::format("{}: nested too deeply", where));
  }
}

Result<Document> read_json(std::string_view text, std::string where) {
  try {
    Document document{where, from_json(parse_json_text(text))};
    if (!std::holds_alternative<Members>(document.root.value))
      return usage_error(fmt::format("{}: no JSON object", where));
    return document;
  } catch (const nlohmann::json::exception& e) {
    return usage_error(fmt::format("{}: no JSON: {}", where, json_problem(e, text)));
  } catch (const std::exception& e) {
    return usage_error(fmt::format("{}: no JSON: {}", where, e.what()));
  }
}

}  // namespace redzone
