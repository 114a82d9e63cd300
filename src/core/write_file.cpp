#include "core/write_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace redzone {
namespace fs = std::filesystem;
namespace {

bool is_about_the_name(int error) {
  for (const int one : {EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG})
    if (error == one) return true;
  return false;
}

}  // namespace

Result<void> write_file(const fs::path& given, std::string_view text) {
  const auto cannot = [&](int error) {
    return tl::unexpected(Error{is_about_the_name(error) ? ErrorKind::usage : ErrorKind::harness,
                                fmt::format("{}: cannot be written: {}", given.string(),
                                            error == 0 ? "unknown error" : std::strerror(error))});
  };
  std::error_code failed;
  const fs::path path = fs::is_symlink(given, failed) ? fs::weakly_canonical(given, failed) : given;
  // A target that is not a regular file, such as a pipe or /dev/stdout, cannot be replaced.
  const fs::file_status status = fs::status(path, failed);
  const bool in_place = fs::exists(status) && !fs::is_regular_file(status);
  const fs::path next =
      in_place ? path
               : path.parent_path() / fmt::format(".{}.{}", path.filename().string(), ::getpid());
  errno = 0;
  std::ofstream out(next, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    const int error = errno;
    if (!in_place) fs::remove(next, failed);
    return cannot(error);
  }
  if (in_place) return {};
  if (fs::exists(status)) fs::permissions(next, status.permissions(), failed);
  fs::rename(next, path, failed);
  if (!failed) return {};
  const int error = failed.value();
  fs::remove(next, failed);
  return cannot(error);
}

}  // namespace redzone
