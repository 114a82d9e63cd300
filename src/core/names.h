// Parses names that a user typed, with "did you mean" suggestions.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.h"
#include "core/error.h"

namespace redzone {

// ", did you mean 'x'?" for the nearest candidate by edit distance, or "" if no candidate is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

// The enumerator of that name, or a usage error that lists the valid names.
template <NamedEnum E>
Result<E> parse_name(std::string_view name) {
  if (const auto value = value_named<E>(name)) return *value;
  return usage_error(
      fmt::format("unknown {} '{}': {}", kEnumTable<E>.what, name, fmt::join(texts_of<E>(), ", ")));
}

// Like parse_name(), for values of other types. `Table` is a range of pair<T, const char*>.
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
