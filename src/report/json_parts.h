// Parts of JSON reports.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace redzone::report {

// Ordered: keeps members in the order in which they are added.
using Json = nlohmann::ordered_json;

// Indented by two spaces, with a newline at the end. Bytes that are not UTF-8 become U+FFFD.
std::string print(const Json& json);

// A JSON array of convert(element) for each element, in order.
template <class Range, class Convert>
Json list(const Range& range, Convert convert) {
  Json array = Json::array();
  for (const auto& element : range) array.push_back(convert(element));
  return array;
}

}  // namespace redzone::report
