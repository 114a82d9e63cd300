#include "sanitizer/new_log.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace redzone::sanitizer {

Result<std::filesystem::path> new_log(const std::filesystem::path& folder) {
  std::string name = (folder / "log-XXXXXX").string();
  const int fd = ::mkstemp(name.data());
  if (fd < 0) return harness_error(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
  ::close(fd);
  return std::filesystem::path(name);
}

}  // namespace redzone::sanitizer
