#include "engine/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace redzone::engine {

std::string find_tool(const std::string& name) {
  std::string folders;
  if (const char* path = std::getenv("PATH")) folders = path;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable)) folders += fmt::format(":{}/bin", home);
  folders += ":/usr/local/cuda/bin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const auto end = std::min(folders.find(':', begin), folders.size());
    const auto file = std::filesystem::path(folders.substr(begin, end - begin)) / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error)) return file.string();
    begin = end + 1;
  }
  return "";
}

}  // namespace redzone::engine
