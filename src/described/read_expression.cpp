#include "described/read_expression.h"

#include <fmt/format.h>

namespace redzone::described {
namespace {

Expression parsed(const TableReader& f, std::string_view field, const Node& node,
                  std::span<const std::string> known) {
  std::string text;
  if (const auto* number = std::get_if<std::int64_t>(&node.value))
    text = std::to_string(*number);
  else if (const auto* string = std::get_if<std::string>(&node.value))
    text = *string;
  else
    throw f.error(field, node, "an expression is expected");
  auto expression = Expression::parse(text, known);
  if (!expression) throw f.error(field, node, expression.error());
  return std::move(*expression);
}

}  // namespace

Expression read_expression(TableReader& f, std::string_view field,
                           std::span<const std::string> known) {
  return parsed(f, field, f.any(field), known);
}

std::vector<Expression> read_expressions(TableReader& f, std::string_view field,
                                         std::span<const std::string> known) {
  std::vector<Expression> out;
  for (const Node& node : f.list(field, "a list of expressions"))
    out.push_back(parsed(f, fmt::format("{}[{}]", field, out.size()), node, known));
  return out;
}

}  // namespace redzone::described
