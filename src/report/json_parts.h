// Parts of JSON reports.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace redzone::report {

// Keeps the order in which members are added.
using Json = nlohmann::ordered_json;

// Indented by two spaces, with a newline at the end. Bytes that are not UTF-8 become U+FFFD.
std::string print(const Json& json);

// convert(element) of each element, in order.
template <class Range, class Convert>
Json list(const Range& range, Convert convert) {
  Json array = Json::array();
  for (const auto& element : range) array.push_back(convert(element));
  return array;
}

}  // namespace redzone::report
