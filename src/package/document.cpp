#include "package/document.h"

#include <fmt/format.h>

#include <fstream>
#include <limits>

#include "core/json.h"
#include "core/toml.h"

namespace redzone::package {
namespace {

// Deeper than any file of a package, and far from the end of the stack.
constexpr int kMostDepth = 32;

struct TooDeep {};

Node from_toml(const toml::node& node, int depth) {
  if (depth > kMostDepth) throw TooDeep{};
  if (const auto* v = node.as_boolean()) return {v->get()};
  if (const auto* v = node.as_integer()) return {v->get()};
  if (const auto* v = node.as_floating_point()) return {v->get()};
  if (const auto* v = node.as_string()) return {v->get()};
  if (const auto* array = node.as_array()) {
    List list;
    for (const auto& element : *array) list.push_back(from_toml(element, depth + 1));
    return {std::move(list)};
  }
  if (const auto* table = node.as_table()) {
    Members members;
    for (const auto& [key, element] : *table)
      members.emplace(std::string(key.str()), from_toml(element, depth + 1));
    return {std::move(members)};
  }
  return {};
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

}  // namespace

Result<std::string> read_bytes(const std::filesystem::path& file, std::size_t most_bytes) {
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    return usage_error(fmt::format("{}: no such file", file.string()));
  // Before it is opened: opening a pipe waits for its writer.
  if (!std::filesystem::is_regular_file(file, error))
    return usage_error(fmt::format("{}: is no regular file", file.string()));
  std::ifstream in(file, std::ios::binary);
  if (!in) return usage_error(fmt::format("{}: cannot be read", file.string()));
  const auto bytes = std::filesystem::file_size(file, error);
  if (error || bytes > most_bytes)
    return usage_error(fmt::format("{}: larger than {} bytes", file.string(), most_bytes));
  std::string text(static_cast<std::size_t>(bytes), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (static_cast<std::size_t>(in.gcount()) != text.size())
    return usage_error(fmt::format("{}: cannot be read", file.string()));
  return text;
}

Result<Node> parse_toml(std::string_view text, const std::filesystem::path& file) {
  const auto document = redzone::parse_toml(text);
  if (!document)
    return usage_error(
        fmt::format("{}: no TOML: {}", document.error().at(file.string()), document.error().what));
  try {
    return from_toml(*document, 0);
  } catch (const TooDeep&) {
    return usage_error(fmt::format("{}: nested too deeply", file.string()));
  }
}

Result<Node> parse_json(std::string_view text, const std::filesystem::path& file) {
  try {
    Node node = from_json(parse_json_text(text));
    if (!std::holds_alternative<Members>(node.value))
      return usage_error(fmt::format("{}: no JSON object", file.string()));
    return node;
  } catch (const std::exception& e) {
    return usage_error(fmt::format("{}: no JSON: {}", file.string(), e.what()));
  }
}

}  // namespace redzone::package
