// Copies a store through SQLite's backup, which includes the write-ahead log.
#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "store/database.h"
#include "store/lacking.h"
#include "store/new_file.h"
#include "store/real_file.h"
#include "store/upkeep.h"

namespace redzone::store {
namespace fs = std::filesystem;
namespace {

using Lines = std::vector<std::string>;

// Contents of the store `to` that `from` lacks.
Result<Lines> losses(Store& from, const fs::path& to_path) {
  RZ_TRY_ASSIGN(auto to, Store::open(to_path, OpenMode::read_only));
  RZ_TRY_ASSIGN(auto lost, lacking(from.database(), to.database()));
  return lost.empty() ? Lines{} : Lines{std::move(lost)};
}

// Checks that `to` does not exist or is a store that may be replaced.
Result<Lines> check_target(Store& from, const fs::path& from_path, const fs::path& to_path) {
  std::error_code ignored;
  if (fs::equivalent(from_path, to_path, ignored))
    return usage_error(fmt::format("{} is the store itself: name another file", to_path.string()));
  // SQLite would mistake this file for the log of the copy.
  if (const std::string log = to_path.string() + "-wal"; fs::exists(log, ignored))
    return harness_error(
        fmt::format("{} exists: a process writes to {}, or was killed; copy to another file", log,
                    to_path.string()));
  if (!fs::exists(fs::symlink_status(to_path, ignored))) return Lines{};
  return losses(from, to_path);
}

Result<void> create(Store& from, const fs::path& from_path, const fs::path& to) {
  RZ_TRY_ASSIGN(auto file, NewFile::beside(to));
  RZ_TRY(from.database().copy_to(file.path(), to));
  std::error_code error;
  fs::permissions(file.path(), fs::status(from_path, error).permissions(), error);
  if (error) return harness_error(fmt::format("{}: {}", file.path().string(), error.message()));
  return file.become(to);
}

// Replaces the contents of `to` in one SQLite transaction, and not the file itself: SQLite would
// mistake the log of a process that opened the old file for the log of a new file. The lock is held
// from the comparison to the end, so no other process writes in between.
Result<Lines> replace(Store& from, const fs::path& to) {
  try {
    constexpr int kBusyMs = 2000;
    SQLite::Database target(fs::absolute(to).string(), SQLite::OPEN_READWRITE, kBusyMs);
    target.exec("PRAGMA journal_mode = WAL");  // so that `to` can be read under the lock
    SQLite::Backup backup(target, from.database().sql());
    if (const int code = backup.executeStep(0); code != SQLITE_OK)  // only takes the lock
      throw SQLite::Exception(target.getHandle(), code);
    RZ_TRY_ASSIGN(auto lost, losses(from, to));
    if (!lost.empty()) return lost;
    if (const int code = backup.executeStep(); code != SQLITE_DONE)
      throw SQLite::Exception(target.getHandle(), code);
    return Lines{};
  } catch (const SQLite::Exception& e) {
    return harness_error(fmt::format("{} cannot be written: {}", to.string(), e.what()));
  }
}

}  // namespace

Result<std::vector<std::string>> copy_store(const fs::path& given_from, const fs::path& given_to) {
  // Resolves links like SQLite: the log lies beside the target of a link, and the target is
  // replaced.
  const fs::path from = real_file(given_from), to = real_file(given_to);
  RZ_TRY_ASSIGN(auto examined, Store::examine(from));
  if (auto* damage = std::get_if<std::string>(&examined)) return Lines{std::move(*damage)};
  Store& store = std::get<Store>(examined);
  for (const auto& look : {check(store), check_target(store, from, to)})
    if (!look || !look->empty()) return look;
  std::error_code ignored;
  if (fs::exists(to, ignored)) return replace(store, to);
  RZ_TRY(create(store, from, to));
  return Lines{};
}

}  // namespace redzone::store
