#include "engine/name_pattern.h"

#include <fnmatch.h>

#include <string_view>

namespace redzone::engine {
namespace {

constexpr const char* kWildcards = "*?[";

}  // namespace

bool is_pattern(const std::string& text) {
  return text.find_first_of(kWildcards) != std::string::npos;
}

bool fits(const std::string& pattern, const std::string& name, Category category) {
  if (fnmatch(pattern.c_str(), name.c_str(), 0) != 0) return false;
  switch (category) {
    case Category::kernel:
      return true;
    case Category::puzzle:
    case Category::twin: {
      const auto family = std::string_view(name).substr(0, name.find('.'));
      const auto literal = std::string_view(pattern).substr(0, pattern.find_first_of(kWildcards));
      return literal.starts_with(family);
    }
    case Category::selftest:
      break;
  }
  return false;
}

}  // namespace redzone::engine
