#include "store/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace redzone::store {
namespace fs = std::filesystem;
namespace {

Error failed_with(const fs::path& file, int error) {
  return {ErrorKind::harness, fmt::format("{}: {}", file.string(), std::strerror(error))};
}

Result<void> sync_path(const fs::path& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return tl::unexpected(failed_with(path, errno));
  const int error = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  // Some network file systems reject fsync() for folders with EINVAL.
  if (error != 0 && error != EINVAL) return tl::unexpected(failed_with(path, error));
  return {};
}

}  // namespace

Result<NewFile> NewFile::beside(const fs::path& file) {
  std::string name = file.string() + ".new-XXXXXX";
  const int fd = ::mkstemp(name.data());
  if (fd < 0) return usage_error(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  ::close(fd);
  return NewFile(name);
}

NewFile::~NewFile() {
  std::error_code ignored;
  if (path_.empty()) return;
  fs::remove(path_, ignored);
  fs::remove(path_.string() + "-journal", ignored);  // SQLite leaves it on a full disk
}

Result<void> NewFile::become(const fs::path& file) {
  int result = ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE);
  if (result != 0 && errno == EINVAL)  // a file system without this flag
    result = ::rename(path_.c_str(), file.c_str());
  if (result != 0) return tl::unexpected(failed_with(file, errno));
  path_.clear();
  return {};
}

Result<void> NewFile::replace(const fs::path& file) {
  RZ_TRY(sync_path(path_, O_RDONLY));
  if (::rename(path_.c_str(), file.c_str()) != 0) return tl::unexpected(failed_with(file, errno));
  path_.clear();
  return sync_path(file.parent_path().empty() ? "." : file.parent_path(), O_RDONLY | O_DIRECTORY);
}

}  // namespace redzone::store
