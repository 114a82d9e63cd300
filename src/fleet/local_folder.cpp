#include "fleet/local_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace redzone::fleet {
namespace fs = std::filesystem;
namespace {

bool is_own_folder(const fs::path& path) {
  struct stat found = {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == ::geteuid();
}

}  // namespace

Result<LocalFolder> LocalFolder::make(const fs::path& parent, const std::string& name, int number) {
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) return harness_error(fmt::format("{}: {}", parent.string(), error.message()));
  const auto path_of = [&](int n) { return parent / fmt::format("{}-{}", name, n); };
  for (int n = 1; n <= number; ++n)
    if (is_own_folder(path_of(n))) fs::remove_all(path_of(n), error);
  fs::path path = path_of(number);
  constexpr mode_t kOwner = 0700;
  if (::mkdir(path.c_str(), kOwner) == 0) return LocalFolder(std::move(path));
  const int why = errno;
  if (why == EEXIST && !is_own_folder(path))
    return usage_error(fmt::format("{}: is no folder, or belongs to somebody else", path.string()));
  return harness_error(fmt::format("{}: {}", path.string(), std::strerror(why)));
}

LocalFolder::~LocalFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

fs::path LocalFolder::keep() {
  const fs::path path = std::exchange(path_, {});
  const fs::path kept = path.string() + "-kept";
  std::error_code error;
  fs::rename(path, kept, error);
  return error ? path : kept;
}

}  // namespace redzone::fleet
