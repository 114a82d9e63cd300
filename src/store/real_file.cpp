#include "store/real_file.h"

#include <system_error>

namespace redzone::store {
namespace fs = std::filesystem;

fs::path real_file(const fs::path& file) {
  constexpr int kMostLinks = 40;  // the limit of Linux
  std::error_code error;
  fs::path at = file;
  for (int links = 0; fs::is_symlink(fs::symlink_status(at, error)); ++links) {
    const fs::path target = fs::read_symlink(at, error);
    if (error || links == kMostLinks) return file;
    at = at.parent_path() / target;  // the result is `target` alone if `target` is absolute
  }
  return at;
}

}  // namespace redzone::store
