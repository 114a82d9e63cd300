#include "core/read_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <fstream>

namespace redzone {
namespace {

constexpr std::size_t kFirstBytes = std::size_t{64} << 10;

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t most_bytes) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::none)
    return usage_error(fmt::format("{}: {}", path.string(), error.message()));
  if (std::filesystem::is_directory(status))
    return usage_error(fmt::format("{}: is a folder, not a file", path.string()));
  if (!std::filesystem::exists(status))
    return usage_error(fmt::format("{}: no such file", path.string()));
  // A pipe or a device may never end.
  if (!std::filesystem::is_regular_file(status))
    return usage_error(fmt::format("{}: is not a regular file", path.string()));
  std::ifstream in(path, std::ios::binary);
  if (!in) return usage_error(fmt::format("{}: cannot be read", path.string()));
  // Reads without the reported size, which is 0 for files whose contents are generated on reading
  // (as in /proc).
  std::string text;
  while (in && text.size() <= most_bytes) {
    const std::size_t before = text.size();
    text.resize(std::min(most_bytes + 1, std::max(kFirstBytes, 2 * before)));
    in.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return usage_error(fmt::format("{}: cannot be read", path.string()));
  if (text.size() > most_bytes)
    return usage_error(fmt::format("{}: larger than {} MiB", path.string(), most_bytes >> 20));
  return text;
}

}  // namespace redzone
