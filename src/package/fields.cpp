#include "package/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "core/names.h"

namespace redzone::package {
namespace {

// More than any name or sentence of a package needs.
constexpr std::size_t kMostCharacters = 2000;

// What is wrong with a text that will be printed, or nothing.
std::optional<std::string> text_problem(std::string_view text) {
  if (text.size() > kMostCharacters)
    return fmt::format("{} characters, at most {} are read", text.size(), kMostCharacters);
  for (const char c : text)
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0)
      return fmt::format("has the control character {:#04x}", static_cast<unsigned char>(c));
  return std::nullopt;
}

// For a message, which may quote any text of the file: on one line, and not for ever.
std::string quotable(std::string_view message) {
  std::string out;
  for (const char c : message.substr(0, kMostCharacters)) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return message.size() > kMostCharacters ? out + "..." : out;
}

}  // namespace

Fields::Fields(const std::filesystem::path& file, std::string path, const Node& table)
    : file_(&file), path_(std::move(path)), table_(std::get_if<Members>(&table.value)) {
  if (table_ == nullptr) {
    static const Members none;
    table_ = &none;
    throw error("", "a table is expected");
  }
}

std::string Fields::where(std::string_view field) const {
  if (field.empty() || path_.empty()) return path_ + std::string(field);
  return fmt::format("{}.{}", path_, field);
}

FieldError Fields::error(std::string_view field, std::string_view message) const {
  const std::string at = quotable(where(field)), what = quotable(message);
  return FieldError(at.empty() ? fmt::format("{}: {}", file_->string(), what)
                               : fmt::format("{}: {}: {}", file_->string(), at, what));
}

const Node* Fields::find(std::string_view field) {
  taken_.emplace(field);
  const auto it = table_->find(field);
  return it == table_->end() ? nullptr : &it->second;
}

const Node& Fields::require(std::string_view field) {
  if (const Node* node = find(field)) return *node;
  throw error(field, "missing");
}

const Node& Fields::any(std::string_view field) {
  return require(field);
}

std::string Fields::text(std::string_view field) {
  const auto* v = std::get_if<std::string>(&require(field).value);
  if (v == nullptr) throw error(field, "a string is expected");
  if (const auto problem = text_problem(*v)) throw error(field, *problem);
  return *v;
}

std::string Fields::text(std::string_view field, std::string_view otherwise) {
  return find(field) == nullptr ? std::string(otherwise) : text(field);
}

std::int64_t Fields::integer(std::string_view field) {
  if (const auto* v = std::get_if<std::int64_t>(&require(field).value)) return *v;
  throw error(field, "an integer is expected");
}

std::int64_t Fields::integer(std::string_view field, std::int64_t otherwise) {
  return find(field) == nullptr ? otherwise : integer(field);
}

std::int64_t Fields::integer_in(std::string_view field, std::int64_t least, std::int64_t most) {
  const auto value = integer(field);
  if (value < least || value > most)
    throw error(field, fmt::format("{} is not in {}..{}", value, least, most));
  return value;
}

double Fields::number(std::string_view field) {
  const Node& node = require(field);
  if (const auto* v = std::get_if<std::int64_t>(&node.value)) return static_cast<double>(*v);
  const auto* v = std::get_if<double>(&node.value);
  if (v == nullptr || !std::isfinite(*v)) throw error(field, "a finite number is expected");
  return *v;
}

bool Fields::flag(std::string_view field) {
  if (const auto* v = std::get_if<bool>(&require(field).value)) return *v;
  throw error(field, "true or false is expected");
}

std::string Fields::name(std::string_view field) {
  std::string value = text(field);
  if (!is_identifier(value)) throw error(field, fmt::format("'{}' is no identifier", value));
  return value;
}

std::size_t Fields::one_of(std::string_view field, std::span<const std::string_view> allowed) {
  const std::string value = text(field);
  const auto it = std::find(allowed.begin(), allowed.end(), value);
  if (it == allowed.end())
    throw error(field, fmt::format("'{}' is none of {}{}", value, fmt::join(allowed, ", "),
                                   did_you_mean(value, {allowed.begin(), allowed.end()})));
  return static_cast<std::size_t>(it - allowed.begin());
}

std::vector<std::int64_t> Fields::integers(std::string_view field) {
  const auto* list = std::get_if<List>(&require(field).value);
  std::vector<std::int64_t> out;
  for (const Node& node : list != nullptr ? *list : List{{}}) {
    const auto* v = std::get_if<std::int64_t>(&node.value);
    if (v == nullptr) throw error(field, "a list of integers is expected");
    out.push_back(*v);
  }
  return out;
}

std::vector<std::string> Fields::texts(std::string_view field) {
  const auto* list = std::get_if<List>(&require(field).value);
  std::vector<std::string> out;
  for (const Node& node : list != nullptr ? *list : List{{}}) {
    const auto* v = std::get_if<std::string>(&node.value);
    if (v == nullptr) throw error(field, "a list of strings is expected");
    if (const auto problem = text_problem(*v)) throw error(field, *problem);
    out.push_back(*v);
  }
  return out;
}

Expression Fields::parsed(const std::string& field, const Node& node,
                          std::span<const std::string> known) const {
  std::string text;
  if (const auto* v = std::get_if<std::int64_t>(&node.value))
    text = std::to_string(*v);
  else if (const auto* v = std::get_if<std::string>(&node.value))
    text = *v;
  else
    throw error(field, "an expression is expected");
  auto expression = Expression::parse(text, known);
  if (!expression) throw error(field, expression.error());
  return std::move(*expression);
}

Expression Fields::expression(std::string_view field, std::span<const std::string> known) {
  return parsed(std::string(field), require(field), known);
}

std::vector<Expression> Fields::expressions(std::string_view field,
                                            std::span<const std::string> known) {
  const auto* list = std::get_if<List>(&require(field).value);
  if (list == nullptr) throw error(field, "a list of expressions is expected");
  std::vector<Expression> out;
  for (std::size_t i = 0; i < list->size(); ++i)
    out.push_back(parsed(fmt::format("{}[{}]", field, i), (*list)[i], known));
  return out;
}

Fields Fields::table(std::string_view field) {
  return Fields(*file_, where(field), require(field));
}

std::vector<Fields> Fields::tables(std::string_view field) {
  const Node* node = find(field);
  if (node == nullptr) return {};
  const auto* list = std::get_if<List>(&node->value);
  if (list == nullptr) throw error(field, "a list of tables is expected");
  std::vector<Fields> out;
  for (std::size_t i = 0; i < list->size(); ++i) {
    std::string label = std::to_string(i);
    if (const auto* members = std::get_if<Members>(&(*list)[i].value))
      if (const auto name = members->find("name"); name != members->end())
        if (const auto* text = std::get_if<std::string>(&name->second.value);
            text != nullptr && !text_problem(*text))
          label = *text;
    out.emplace_back(*file_, where(fmt::format("{}[{}]", field, label)), (*list)[i]);
  }
  return out;
}

const Members& Fields::members() {
  for (const auto& [name, node] : *table_) taken_.insert(name);
  return *table_;
}

void Fields::done() const {
  for (const auto& [name, node] : *table_)
    if (!taken_.contains(name))
      throw error(name, fmt::format("no such field here{}",
                                    did_you_mean(name, {taken_.begin(), taken_.end()})));
}

bool is_identifier(std::string_view text) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), is_word);
}

}  // namespace redzone::package
