#include "memory_preload/preload_variable.h"

namespace redzone::memory_preload {

std::string preload_variable(const std::filesystem::path& library, std::string_view now) {
  std::error_code error;
  std::string out = library.string();
  if (!std::filesystem::is_regular_file(library, error) ||
      out.find_first_of(": \t\n") != std::string::npos)
    return std::string(now);
  if (!now.empty()) out.append(":").append(now);
  return out;
}

}  // namespace redzone::memory_preload
