// Reads fields of a description whose values are expressions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/table_reader.h"
#include "described/expression.h"

namespace redzone::described {

// An expression, given as a string or an integer, over the names in `known`. Throws FieldError.
Expression read_expression(TableReader& f, std::string_view field,
                           std::span<const std::string> known);
// A list of such expressions.
std::vector<Expression> read_expressions(TableReader& f, std::string_view field,
                                         std::span<const std::string> known);

}  // namespace redzone::described
