#include "sanitizer/log_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace redzone::sanitizer {

Result<LogFolder> LogFolder::create() {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  std::string name = ((error ? "/tmp" : folder) / "redzone-sanitizer-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    return harness_error(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
  return LogFolder(name);
}

LogFolder::~LogFolder() {
  std::error_code ignored;  // what is left is in the folder for temporary files
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<std::filesystem::path> new_log(const std::filesystem::path& folder) {
  std::string name = (folder / "log-XXXXXX").string();
  const int fd = ::mkstemp(name.data());
  if (fd < 0) return harness_error(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
  ::close(fd);
  return std::filesystem::path(name);
}

}  // namespace redzone::sanitizer
