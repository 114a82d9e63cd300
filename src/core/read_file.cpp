#include "core/read_file.h"

#include <fmt/format.h>

#include <cstddef>
#include <fstream>

namespace redzone {

Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status))
    return usage_error(fmt::format("{}: is a folder, not a file", path.string()));
  // A pipe may never end, and a device neither.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return usage_error(fmt::format("{}: is no regular file", path.string()));
  std::ifstream in(path, std::ios::binary);
  if (!in) return usage_error(fmt::format("{}: cannot be read", path.string()));
  constexpr std::size_t kMost = std::size_t{64} << 20;
  std::string text(kMost + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMost) return usage_error(fmt::format("{}: larger than 64 MiB", path.string()));
  return text;
}

}  // namespace redzone
