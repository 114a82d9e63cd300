// The only JSON parser entry point, bounded in size and depth, because copying and walking a tree
// recurse. `Json` is nlohmann::json or nlohmann::ordered_json.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace redzone {

inline constexpr std::size_t kMostJsonBytes = std::size_t{64} << 20;
inline constexpr int kMostJsonDepth = 32;

// Throws std::exception with a description of the error.
template <class Json = nlohmann::json>
Json parse_json_text(std::string_view text) {
  if (text.size() > kMostJsonBytes) throw std::length_error("the text is larger than 64 MiB");
  return Json::parse(text, [](int depth, typename Json::parse_event_t event, Json&) {
    using Event = typename Json::parse_event_t;
    const bool opens = event == Event::object_start || event == Event::array_start;
    if (opens && depth >= kMostJsonDepth) throw std::length_error("nested too deeply");
    return true;
  });
}

}  // namespace redzone
