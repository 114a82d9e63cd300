// The rule for names of targets, which become parts of file names.
#pragma once

#include <algorithm>
#include <string_view>

namespace redzone {

// [a-z0-9_.]+, and neither "." nor "..".
inline bool is_target_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
         });
}

}  // namespace redzone
