// A copy of a store through SQLite's backup, which reads the log, too.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "store/database.h"
#include "store/upkeep.h"

namespace redzone::store {
namespace fs = std::filesystem;
namespace {

using Lines = std::vector<std::string>;

// A file beside the one that it is to become; removed unless it did.
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

// How far a store has come, by what no prune takes back: SQLite keeps the highest id that a table
// ever had, and the latest entry of a ledger stays when it is compacted.
struct Seen {
  std::int64_t campaigns = 0, findings = 0;
  std::string entered;  // UTC
};

Result<Seen> seen_by(Store& store) {
  return store.database().read([&] {
    SQLite::Database& sql = store.database().sql();
    const auto highest = [&](const char* table) {
      SQLite::Statement query(sql,
                              "SELECT ifnull((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)");
      query.bind(1, table);
      query.executeStep();
      return query.getColumn(0).getInt64();
    };
    return Seen{highest("campaigns"), highest("findings"),
                sql.execAndGet("SELECT ifnull(max(at), '') FROM ledger").getString()};
  });
}

// What `from` has not seen of `to`.
Result<Lines> behind(Store& from, const fs::path& from_path, const fs::path& to_path) {
  auto to = Store::open(to_path, OpenMode::read_only);
  if (!to) return tl::unexpected(to.error());
  const auto here = seen_by(from), there = seen_by(*to);
  if (!here) return tl::unexpected(here.error());
  if (!there) return tl::unexpected(there.error());
  Lines lines;
  const auto compare = [&](std::int64_t mine, std::int64_t theirs, const char* what) {
    if (mine < theirs)
      lines.push_back(fmt::format("{} has seen {} {}, {} has seen {}", from_path.string(), mine,
                                  what, to_path.string(), theirs));
  };
  compare(here->campaigns, there->campaigns, "campaigns");
  compare(here->findings, there->findings, "findings");
  if (here->entered < there->entered)
    lines.push_back(fmt::format("the ledgers of {} end {}, those of {} at {}", from_path.string(),
                                here->entered.empty() ? "empty" : "at " + here->entered,
                                to_path.string(), there->entered));
  return lines;
}

// What `to` is now must be a store that may be replaced, or nothing.
Result<Lines> check_target(Store& from, const fs::path& from_path, const fs::path& to_path) {
  std::error_code ignored;
  if (fs::equivalent(from_path, to_path, ignored))
    return usage_error(fmt::format("{} is the store itself: name another file", to_path.string()));
  // SQLite would take it for the log of the copy.
  if (const std::string log = to_path.string() + "-wal"; fs::exists(log, ignored))
    return harness_error(
        fmt::format("{} is there: somebody writes to {}, or was killed; copy to "
                    "another file",
                    log, to_path.string()));
  if (!fs::exists(fs::symlink_status(to_path, ignored))) return Lines{};
  return behind(from, from_path, to_path);
}

}  // namespace

Result<std::vector<std::string>> copy_store(const fs::path& from, const fs::path& to) {
  auto examined = Store::examine(from);
  if (!examined) return tl::unexpected(examined.error());
  if (auto* damage = std::get_if<std::string>(&*examined)) return Lines{std::move(*damage)};
  Store& store = std::get<Store>(*examined);
  for (const auto& look : {check(store), check_target(store, from, to)})
    if (!look || !look->empty()) return look;
  auto file = NewFile::beside(to);
  if (!file) return tl::unexpected(file.error());
  if (auto written = store.database().copy_to(file->path()); !written)
    return tl::unexpected(written.error());
  std::error_code error;
  fs::permissions(file->path(), fs::status(from, error).permissions(), error);
  if (error) return harness_error(fmt::format("{}: {}", file->path().string(), error.message()));
  if (auto became = file->become(to); !became) return tl::unexpected(became.error());
  return Lines{};
}

}  // namespace redzone::store
