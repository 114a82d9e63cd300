// Copies a store through SQLite's backup, which reads the log, too.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "store/database.h"
#include "store/lacking.h"
#include "store/real_file.h"
#include "store/upkeep.h"

namespace redzone::store {
namespace fs = std::filesystem;
namespace {

using Lines = std::vector<std::string>;

// A temporary file beside its final path; the destructor removes it unless it was renamed.
class NewFile {
 public:
  static Result<NewFile> beside(const fs::path& file) {
    std::string name = file.string() + ".new-XXXXXX";
    const int fd = ::mkstemp(name.data());
    if (fd < 0) return usage_error(fmt::format("{}: {}", file.string(), std::strerror(errno)));
    ::close(fd);
    return NewFile(name);
  }
  NewFile(NewFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }

  const fs::path& path() const { return path_; }
  Result<void> become(const fs::path& file) {
    std::error_code error;
    fs::rename(path_, file, error);
    if (error) return harness_error(fmt::format("{}: {}", file.string(), error.message()));
    path_.clear();
    return {};
  }

 private:
  explicit NewFile(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

// Checks that `to` does not exist or is a store that may be replaced.
Result<Lines> check_target(Store& from, const fs::path& from_path, const fs::path& to_path) {
  std::error_code ignored;
  if (fs::equivalent(from_path, to_path, ignored))
    return usage_error(fmt::format("{} is the store itself: name another file", to_path.string()));
  // SQLite would take this file for the log of the copy.
  if (const std::string log = to_path.string() + "-wal"; fs::exists(log, ignored))
    return harness_error(
        fmt::format("{} exists: a process writes to {}, or was killed; copy to another file", log,
                    to_path.string()));
  if (!fs::exists(fs::symlink_status(to_path, ignored))) return Lines{};
  RZ_TRY_ASSIGN(auto to, Store::open(to_path, OpenMode::read_only));
  RZ_TRY_ASSIGN(auto losses, lacking(from.database(), to.database()));
  return losses.empty() ? Lines{} : Lines{std::move(losses)};
}

}  // namespace

Result<std::vector<std::string>> copy_store(const fs::path& given_from, const fs::path& given_to) {
  // As SQLite does: the log lies beside the target of a link, and the target is replaced.
  const fs::path from = real_file(given_from), to = real_file(given_to);
  RZ_TRY_ASSIGN(auto examined, Store::examine(from));
  if (auto* damage = std::get_if<std::string>(&examined)) return Lines{std::move(*damage)};
  Store& store = std::get<Store>(examined);
  for (const auto& look : {check(store), check_target(store, from, to)})
    if (!look || !look->empty()) return look;
  RZ_TRY_ASSIGN(auto file, NewFile::beside(to));
  RZ_TRY(store.database().copy_to(file.path()));
  std::error_code error;
  fs::permissions(file.path(), fs::status(from, error).permissions(), error);
  if (error) return harness_error(fmt::format("{}: {}", file.path().string(), error.message()));
  RZ_TRY(file.become(to));
  return Lines{};
}

}  // namespace redzone::store
