// Enumerators and their names, and "did you mean" for names that a user mistyped.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace redzone {

// ", did you mean 'x'?" for the nearest candidate by edit distance, or "" when none is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

// `Table` is a range of pair<Enum, const char*>.
template <class Table, class Enum>
std::string_view name_in(const Table& table, Enum value) {
  for (const auto& [v, name] : table)
    if (v == value) return name;
  RZ_CHECK(false && "enumerator without a name");
  return "";
}

template <class Table>
auto value_in(const Table& table, std::string_view name, std::string_view what)
    -> Result<std::remove_cv_t<decltype(table[0].first)>> {
  std::vector<std::string> names;
  for (const auto& [v, n] : table) {
    if (n == name) return v;
    names.emplace_back(n);
  }
  return usage_error(fmt::format("unknown {} '{}': {}", what, name, fmt::join(names, ", ")));
}

}  // namespace redzone
