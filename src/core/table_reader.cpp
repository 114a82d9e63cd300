#include "core/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "core/names.h"
#include "core/terminal.h"

namespace redzone {
namespace {

// More than any name or sentence of a package needs.
constexpr std::size_t kMostCharacters = 2000;

// The problem with a text that will be printed, or nothing.
std::optional<std::string> text_problem(std::string_view text) {
  if (text.size() > kMostCharacters)
    return fmt::format("{} characters, at most {} are read", text.size(), kMostCharacters);
  for (const char c : text)
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0)
      return fmt::format("has the control character {:#04x}", static_cast<unsigned char>(c));
  return std::nullopt;
}

// Makes a message that may quote any text of the document one printable line of bounded length.
std::string quotable(std::string_view message) {
  const std::string out = printable(message.substr(0, kMostCharacters));
  return message.size() > kMostCharacters ? out + "..." : out;
}

std::string_view kind_of(const Node& node) {
  constexpr std::string_view kKinds[] = {"a value of another kind",
                                         "true or false",
                                         "an integer",
                                         "a number with a point",
                                         "a string",
                                         "a list",
                                         "a table"};
  const auto* real = std::get_if<double>(&node.value);
  return real != nullptr && !std::isfinite(*real) ? "an infinity or no number"
                                                  : kKinds[node.value.index()];
}

}  // namespace

TableReader::TableReader(const Document& document)
    : TableReader(document.where, "", document.root) {}

TableReader::TableReader(const std::string& where, std::string path, const Node& table)
    : where_(&where),
      path_(std::move(path)),
      node_(&table),
      table_(std::get_if<Members>(&table.value)) {
  if (table_ == nullptr)
    throw error("", table, fmt::format("a table is expected, not {}", kind_of(table)));
}

std::string TableReader::path_of(std::string_view field) const {
  if (field.empty() || path_.empty()) return path_ + std::string(field);
  return fmt::format("{}.{}", path_, field);
}

FieldError TableReader::error(std::string_view field, std::string_view message) const {
  static const Node nowhere;
  if (const auto it = table_->find(field); it != table_->end())
    return error(field, it->second, message);
  const bool is_path = field.find_first_of(".[") != std::string_view::npos;
  return error(field, is_path ? nowhere : *node_, message);
}

FieldError TableReader::error(std::string_view field, const Node& node,
                              std::string_view message) const {
  std::string out = *where_;
  if (node.line != 0) out += fmt::format(":{}:{}", node.line, node.column);
  if (const std::string path = path_of(field); !path.empty()) out += ": " + quotable(path);
  return FieldError(out + ": " + quotable(message));
}

FieldError TableReader::wrong(std::string_view field, std::string_view want,
                              const Node& found) const {
  return error(field, found, fmt::format("{} is expected, not {}", want, kind_of(found)));
}

const Node* TableReader::find(std::string_view field) {
  taken_.emplace(field);
  const auto it = table_->find(field);
  return it == table_->end() ? nullptr : &it->second;
}

bool TableReader::has(std::string_view field) {
  if (table_->contains(field)) return true;
  taken_.emplace(field);  // a candidate for "did you mean" if another field is mistyped
  return false;
}

const Node& TableReader::any(std::string_view field) {
  if (const Node* node = find(field)) return *node;
  throw error(field, "missing");
}

template <class T>
const T& TableReader::as(std::string_view field, std::string_view want) {
  const Node& node = any(field);
  if (const auto* value = std::get_if<T>(&node.value)) return *value;
  throw wrong(field, want, node);
}

std::vector<std::string> TableReader::names() const {
  std::vector<std::string> out;
  for (const auto& member : *table_) out.push_back(member.first);
  return out;
}

std::int64_t TableReader::integer(std::string_view field) {
  return as<std::int64_t>(field, "an integer");
}

std::int64_t TableReader::integer(std::string_view field, std::int64_t otherwise) {
  return find(field) == nullptr ? otherwise : integer(field);
}

std::int64_t TableReader::integer_in(std::string_view field, std::int64_t least,
                                     std::int64_t most) {
  const auto value = integer(field);
  if (value < least || value > most)
    throw error(field, fmt::format("{} is not in {}..{}", value, least, most));
  return value;
}

std::int64_t TableReader::integer_in(std::string_view field, std::int64_t least, std::int64_t most,
                                     std::int64_t otherwise) {
  return find(field) == nullptr ? otherwise : integer_in(field, least, most);
}

std::uint64_t TableReader::not_negative(std::string_view field, std::uint64_t otherwise) {
  if (find(field) == nullptr) return otherwise;
  const auto value = integer(field);
  if (value < 0) throw error(field, fmt::format("{} is negative", value));
  return static_cast<std::uint64_t>(value);
}

double TableReader::number(std::string_view field) {
  const Node& node = any(field);
  if (const auto* v = std::get_if<std::int64_t>(&node.value)) return static_cast<double>(*v);
  const auto* v = std::get_if<double>(&node.value);
  if (v == nullptr || !std::isfinite(*v)) throw wrong(field, "a finite number", node);
  return *v;
}

bool TableReader::flag(std::string_view field) {
  return as<bool>(field, "true or false");
}

bool TableReader::flag(std::string_view field, bool otherwise) {
  return find(field) == nullptr ? otherwise : flag(field);
}

std::string TableReader::string(std::string_view field) {
  return as<std::string>(field, "a string");
}

std::string TableReader::text(std::string_view field) {
  std::string value = string(field);
  if (const auto problem = text_problem(value)) throw error(field, *problem);
  return value;
}

std::string TableReader::text(std::string_view field, std::string_view otherwise) {
  return find(field) == nullptr ? std::string(otherwise) : text(field);
}

std::string TableReader::name(std::string_view field) {
  std::string value = text(field);
  if (!is_identifier(value)) throw error(field, fmt::format("'{}' is not an identifier", value));
  return value;
}

std::size_t TableReader::one_of(std::string_view field, std::span<const std::string_view> allowed) {
  const std::string value = text(field);
  const auto it = std::find(allowed.begin(), allowed.end(), value);
  if (it == allowed.end())
    throw error(field, fmt::format("'{}' is not one of {}{}", value, fmt::join(allowed, ", "),
                                   did_you_mean(value, {allowed.begin(), allowed.end()})));
  return static_cast<std::size_t>(it - allowed.begin());
}

Value TableReader::value(std::string_view field) {
  const Node& node = any(field);
  if (const auto* number = std::get_if<std::int64_t>(&node.value)) return *number;
  if (const auto* text = std::get_if<std::string>(&node.value)) return *text;
  throw wrong(field, "an integer or a string", node);
}

const List& TableReader::list(std::string_view field, std::string_view what) {
  return as<List>(field, what);
}

std::vector<std::int64_t> TableReader::integers(std::string_view field) {
  std::vector<std::int64_t> out;
  for (const Node& node : list(field, "a list of integers")) {
    const auto* v = std::get_if<std::int64_t>(&node.value);
    if (v == nullptr) throw wrong(field, "an integer in the list", node);
    out.push_back(*v);
  }
  return out;
}

std::vector<std::string> TableReader::texts(std::string_view field) {
  std::vector<std::string> out;
  for (const Node& node : list(field, "a list of strings")) {
    const auto* v = std::get_if<std::string>(&node.value);
    if (v == nullptr) throw wrong(field, "a string in the list", node);
    if (const auto problem = text_problem(*v)) throw error(field, node, *problem);
    out.push_back(*v);
  }
  return out;
}

TableReader TableReader::table(std::string_view field) {
  return {*where_, path_of(field), any(field)};
}

std::vector<TableReader> TableReader::tables(std::string_view field) {
  if (find(field) == nullptr) return {};
  std::vector<TableReader> out;
  for (const Node& node : list(field, "a list of tables")) {
    std::string label = std::to_string(out.size());
    if (const auto* members = std::get_if<Members>(&node.value))
      if (const auto name = members->find("name"); name != members->end())
        if (const auto* text = std::get_if<std::string>(&name->second.value);
            text != nullptr && !text_problem(*text))
          label = *text;
    out.push_back({*where_, path_of(fmt::format("{}[{}]", field, label)), node});
  }
  return out;
}

void TableReader::done() const {
  for (const auto& [name, node] : *table_)
    if (!taken_.contains(name))
      throw error(
          name, node,
          fmt::format("unknown field{}", did_you_mean(name, {taken_.begin(), taken_.end()})));
}

bool is_identifier(std::string_view text) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), is_word);
}

}  // namespace redzone
