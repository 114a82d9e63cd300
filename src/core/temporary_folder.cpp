#include "core/temporary_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>

namespace redzone {

Result<TemporaryFolder> TemporaryFolder::create(std::string_view purpose) {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  std::string name =
      ((error ? "/tmp" : folder) / fmt::format("redzone-{}-XXXXXX", purpose)).string();
  if (::mkdtemp(name.data()) == nullptr)
    return harness_error(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
  return TemporaryFolder(name);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // leftovers stay in the system's folder for temporary files
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace redzone
