#include "store/database.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/json.h"
#include "core/uid.h"
#include "store/read_limit.h"
#include "store/real_file.h"
#include "store/schema_columns.h"
#include "store/writer_table.h"

namespace redzone::store {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void usage(std::string message) {
  throw Failure{{ErrorKind::usage, std::move(message)}};
}
[[noreturn]] void no_store(std::string message) {
  throw Failure{{ErrorKind::usage, std::move(message)}, true};
}
[[noreturn]] void harness(std::string message) {
  throw Failure{{ErrorKind::harness, std::move(message)}};
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Reports all problems of a path that are visible without opening it as a database. SQLite's own
// message for most of them is "unable to open database file".
void check_path(const fs::path& path, OpenMode mode) {
  const bool writing = mode == OpenMode::read_write_create;
  if (path.empty()) usage("the store's file name is empty: name a file");
  std::error_code error, ignored;
  const fs::path folder = folder_of(path);
  if (!fs::is_directory(folder, ignored))
    usage(fmt::format("{}: folder {} does not exist", path.string(), folder.string()));
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none)
    usage(fmt::format("{} cannot be reached: {}", path.string(), error.message()));
  if (fs::is_directory(status))
    usage(fmt::format("{} is a folder: name a file in it", path.string()));
  if (!fs::exists(status)) {
    if (!writing) usage(fmt::format("{} does not exist: a campaign creates it", path.string()));
  } else if (!fs::is_regular_file(status)) {
    usage(fmt::format("{} is not a regular file: name a store or a new file", path.string()));
  } else if (::access(path.c_str(), R_OK) != 0) {
    usage(fmt::format("{} cannot be read: permission denied", path.string()));
  } else if (writing && ::access(path.c_str(), W_OK) != 0) {
    usage(fmt::format("{} is read-only: make it writable or name another file", path.string()));
  } else if (writing && fs::hard_link_count(path, ignored) > 1) {
    // Two writers would each keep a log beside their own name of the file, and not see each other's
    // log.
    usage(
        fmt::format("{} has another name (a hard link): copy it with 'redzone db copy', and name "
                    "the copy",
                    path.string()));
  }
  if (writing && ::access(folder.c_str(), W_OK | X_OK) != 0)
    usage(fmt::format("{}: folder {} is read-only: SQLite needs to write beside the file",
                      path.string(), folder.string()));
}

// State of the file itself (see real_file). It changes whenever another process moves its log into
// the file. Never opens the file, because closing it would drop the locks of this process's other
// connections.
struct Stamp {
  std::uintmax_t bytes = 0;
  fs::file_time_type written{};
  // The log has content, or a process has the file open.
  bool has_log = false;

  explicit Stamp(const fs::path& path) {
    std::error_code missing;
    const auto log_bytes = fs::file_size(path.string() + "-wal", missing);
    has_log = !missing && (log_bytes > 0 || fs::exists(path.string() + "-shm", missing));
    bytes = fs::file_size(path, missing);
    if (missing) bytes = 0;
    written = fs::last_write_time(path, missing);
  }
  bool operator==(const Stamp&) const = default;

  // Requires that SQLite has read the header. SQLite treats a file of a few bytes as empty, and
  // reads a truncated page as if zeros followed.
  void check_length(std::int64_t page_bytes) const {
    constexpr std::uintmax_t kHeader = 100;  // https://sqlite.org/fileformat.html, 1.3
    if (bytes > 0 && bytes < kHeader)
      throw SQLite::Exception("the file is too short", SQLITE_NOTADB);
    if (!has_log && bytes % static_cast<std::uintmax_t>(page_bytes) != 0)
      throw SQLite::Exception("the file was cut short", SQLITE_CORRUPT);
  }
};

// Escapes '%', '?' and '#', which SQLite parses as URI syntax.
std::string file_uri(const fs::path& path, bool immutable) {
  std::string out = "file:";
  for (char c : fs::absolute(path).string())
    out += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02X}", c) : std::string(1, c);
  return out + (immutable ? "?immutable=1" : "");
}

}  // namespace

Database::Database(fs::path path)
    : path_(std::move(path)), real_(real_file(path_)), writer_(new_uid()) {}

Result<std::unique_ptr<Database>> Database::open(const fs::path& path, OpenMode mode,
                                                 const OpenOptions& options, Migrations steps) {
  std::unique_ptr<Database> db(new Database(path));
  RZ_TRY(db->attempt([&] {
    check_path(path, mode);
    if (mode == OpenMode::read_only)
      db->open_snapshot(options, steps);
    else
      db->open_for_writing(options, steps);
  }));
  return db;
}

Result<std::variant<std::unique_ptr<Database>, std::string>> Database::examine(
    const fs::path& path, const OpenOptions& options, Migrations steps) {
  std::unique_ptr<Database> db(new Database(path));
  RZ_TRY_ASSIGN(auto damage, db->attempt([&]() -> std::string {
    check_path(path, OpenMode::read_only);
    try {
      db->open_snapshot(options, steps);
    } catch (const SQLite::Exception& e) {
      const int code = e.getErrorCode() & 0xff;
      constexpr std::array kDamage{SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_TOOBIG, SQLITE_ERROR};
      if (std::find(kDamage.begin(), kDamage.end(), code) == kDamage.end()) throw;
      return db->explain(e).message;
    } catch (const Failure& f) {
      if (!f.no_store && f.error.kind != ErrorKind::unsound) throw;
      return f.error.message;
    }
    return "";
  }));
  if (!damage.empty()) return damage;
  return db;
}

Result<void> Database::copy_to(const fs::path& file, const fs::path& wanted) {
  return attempt([&] {
    try {
      SQLite::Database target(fs::absolute(file).string(), SQLite::OPEN_READWRITE);
      SQLite::Backup backup(target, *sql_);
      if (const int code = backup.executeStep(); code != SQLITE_DONE)
        throw SQLite::Exception(target.getErrorMsg(), code);
    } catch (const SQLite::Exception& e) {
      harness(fmt::format("{} cannot be written: {}", wanted.string(), e.what()));
    }
  });
}

void Database::open_for_writing(const OpenOptions& options, Migrations steps) {
  busy_timeout_ = options.busy_timeout;
  // Absolute, because SQLite treats names like ":memory:" specially.
  sql_ = std::make_unique<SQLite::Database>(fs::absolute(path_).string(),
                                            SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                                            static_cast<int>(busy_timeout_.count()));
  bound_values();
  // A leftover log must not be moved into the file before the file is known to be a store.
  const Stamp found(real_);
  sqlite3_db_config(sql_->getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, found.has_log ? 1 : 0,
                    nullptr);
  if (!identify(steps)) quick_check(steps);
  found.check_length(pragma("page_size"));
  // A store must not grow so large that it could no longer be read.
  const std::int64_t most_pages =
      options.max_pages > 0 ? options.max_pages : kMostReadBytes / pragma("page_size");
  sql_->exec(fmt::format("PRAGMA max_page_count = {}", most_pages));
  sql_->exec("PRAGMA foreign_keys = ON");
  sql_->exec("PRAGMA synchronous = FULL");
  if (enter_wal() != "wal")
    harness(fmt::format("{}: no write-ahead log on this file system: name a file on a local disk",
                        path_.string()));
  migrate(steps);
  sqlite3_db_config(sql_->getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  if (::stat(real_.c_str(), &opened_) != 0)
    harness(fmt::format("{}: {}", path_.string(), std::strerror(errno)));
}

void Database::check_place() const {
  struct stat now = {};
  if (::stat(real_.c_str(), &now) == 0 && now.st_dev == opened_.st_dev &&
      now.st_ino == opened_.st_ino)
    return;
  harness(
      fmt::format("{} was removed or replaced while it was written: what was stored since it was "
                  "opened is lost",
                  path_.string()));
}

// The limit applies to every value that any statement reads or writes.
void Database::bound_values() {
  sqlite3_limit(sql_->getHandle(), SQLITE_LIMIT_LENGTH, static_cast<int>(kMostJsonBytes));
}

// SQLite does not wait when two connections enable the log at the same time: each holds a lock that
// the other needs, and one fails at once with SQLITE_BUSY.
std::string Database::enter_wal() {
  const auto until = std::chrono::steady_clock::now() + busy_timeout_;
  for (;;) {
    try {
      return sql_->execAndGet("PRAGMA journal_mode = WAL").getString();
    } catch (const SQLite::Exception& e) {
      if (e.getErrorCode() != SQLITE_BUSY || std::chrono::steady_clock::now() >= until) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void Database::open_snapshot(const OpenOptions& options, Migrations steps) {
  busy_timeout_ = options.busy_timeout;
  // A copy that a writer disturbed is repeated. If the writer is still active, the file has a log
  // by then, and SQLite's own locks separate the two processes.
  static constexpr int kTries = 5;
  int tries = 0;
  while (!copy_to_memory(options))
    if (++tries == kTries)
      harness(fmt::format("{} keeps changing while it is read: try again", path_.string()));
  if (!identify(steps)) quick_check(steps);
  migrate(steps);
  sql_->exec("PRAGMA query_only = ON");
}

// Throws before copying a file that would not fit into memory.
void Database::check_size(SQLite::Database& source) const {
  const std::int64_t bytes = source.execAndGet("PRAGMA page_count").getInt64() *
                             source.execAndGet("PRAGMA page_size").getInt64();
  if (bytes > kMostReadBytes)
    harness(
        fmt::format("{} has {} MiB, a store that is read may have {}: remove old entries with "
                    "'redzone db prune'",
                    path_.string(), bytes >> 20, kMostReadBytes >> 20));
}

bool Database::copy_to_memory(const OpenOptions& options) {
  const Stamp before(real_);
  sql_ =
      std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  bound_values();
  if (before.bytes == 0 && !before.has_log) return true;
  // Without a log there is no writer, so the file is opened as immutable and SQLite creates no
  // files.
  SQLite::Database source(file_uri(real_, !before.has_log),
                          SQLite::OPEN_READONLY | SQLite::OPEN_URI,
                          static_cast<int>(options.busy_timeout.count()));
  source.execAndGet("PRAGMA schema_version");  // reads the header, so that a file that is not a
                                               // database is refused first
  before.check_length(source.execAndGet("PRAGMA page_size").getInt64());
  check_size(source);
  SQLite::Backup backup(*sql_, source);
  if (const int code = backup.executeStep(); code != SQLITE_DONE)
    throw SQLite::Exception("database is locked", code);
  return before.has_log || Stamp(real_) == before;
}

std::int64_t Database::pragma(const char* name) {
  return sql_->execAndGet(fmt::format("PRAGMA {}", name)).getInt64();
}

void Database::count_write_since(int changes) {
  if (sql_->getTotalChanges() != changes) count_write(*sql_, writer_);
}

bool Database::identify(Migrations steps) {
  // One read transaction: another process may be creating the file now.
  SQLite::Transaction moment(*sql_);
  const std::int64_t application = pragma("application_id");
  const std::int64_t version = pragma("user_version");
  const bool empty = sql_->execAndGet("SELECT count(*) FROM sqlite_master").getInt64() == 0;
  if (application == 0 && version == 0 && empty) return true;
  if (application != kApplicationId)
    no_store(fmt::format("{} is a SQLite database of another program: name another file",
                         path_.string()));
  if (version < 1)
    throw Failure{{ErrorKind::unsound, fmt::format("{} has schema version {}, which no store has",
                                                   path_.string(), version)}};
  if (version > static_cast<std::int64_t>(steps.size()))
    usage(fmt::format("{} has schema version {}, this build reads up to {}: use a newer redzone",
                      path_.string(), version, steps.size()));
  return false;
}

void Database::check_schema(Migrations steps) {
  // One read transaction: another process may be migrating the file now.
  SQLite::Transaction moment(*sql_);
  const auto version = static_cast<std::size_t>(pragma("user_version"));
  auto problems = schema_problems(*sql_, steps.first(version));
  if (problems.empty()) return;
  constexpr std::size_t kMostTold = 5;
  const std::size_t more = problems.size() - std::min(problems.size(), kMostTold);
  problems.resize(problems.size() - more);
  throw Failure{{ErrorKind::unsound,
                 fmt::format("{} is not sound: {}{}", path_.string(), fmt::join(problems, "; "),
                             more > 0 ? fmt::format("; and {} more", more) : "")}};
}

void Database::quick_check(Migrations steps) {
  check_schema(steps);
  std::string said = sql_->execAndGet("PRAGMA quick_check(1)").getString();
  std::replace(said.begin(), said.end(), '\n', ' ');
  if (said != "ok") throw SQLite::Exception(said, SQLITE_CORRUPT);
}

void Database::migrate(Migrations steps) {
  if (pragma("user_version") == static_cast<std::int64_t>(steps.size())) return;
  SQLite::Transaction transaction(*sql_, SQLite::TransactionBehavior::IMMEDIATE);
  // Checked again under the lock, because another process may have migrated the file meanwhile.
  const auto version = static_cast<std::size_t>(pragma("user_version"));
  try {
    for (std::size_t v = version; v < steps.size(); ++v) sql_->exec(std::string(steps[v]));
  } catch (const SQLite::Exception& e) {
    const int code = e.getErrorCode() & 0xff;
    if (code != SQLITE_CONSTRAINT && code != SQLITE_MISMATCH) throw;
    throw damaged(e);  // e.g. two rows that a migration step makes equal
  }
  if (version < steps.size()) {
    sql_->exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
    sql_->exec(fmt::format("PRAGMA user_version = {}", steps.size()));
  }
  transaction.commit();
}

void Database::set(Durability durability) {
  if (durability == durability_) return;
  sql_->exec(durability == Durability::full ? "PRAGMA synchronous = FULL"
                                            : "PRAGMA synchronous = NORMAL");
  durability_ = durability;
}

Failure Database::damaged(const SQLite::Exception& e) const {
  return {{ErrorKind::unsound,
           fmt::format("{} is damaged: SQLite reports: {}: restore a copy, or move it away to "
                       "start anew",
                       path_.string(), e.what())}};
}

Error Database::explain(const SQLite::Exception& e) const {
  const std::string file = path_.string();
  switch (e.getErrorCode() & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::harness,
              fmt::format("{} is locked: another process has been writing to it for more than "
                          "{:g} s; end it or name another file",
                          file, static_cast<double>(busy_timeout_.count()) / 1000)};
    case SQLITE_NOTADB:
      return {ErrorKind::usage,
              fmt::format("{} is not a Redzone store (not an SQLite database): name another file",
                          file)};
    case SQLITE_CORRUPT:
      return {ErrorKind::unsound,
              fmt::format("{} is corrupt ({}): restore a copy, or move it away to start anew", file,
                          e.what())};
    case SQLITE_FULL:
      return {
          ErrorKind::harness,
          fmt::format("{}: no space left ({}): free some, or remove old entries with 'redzone db "
                      "prune' if it has the {} MiB that a store may have; what was stored "
                      "before is safe",
                      file, e.what(), kMostReadBytes >> 20)};
    case SQLITE_READONLY:
      return {ErrorKind::usage,
              fmt::format("{} is open for reading only ({}): make it writable", file, e.what())};
    case SQLITE_CANTOPEN:
      return {ErrorKind::usage,
              fmt::format("{} cannot be opened ({}): it and its folder must be accessible", file,
                          e.what())};
    case SQLITE_IOERR:
      return {ErrorKind::harness,
              fmt::format("{}: {}: the disk refused to read or write; what was stored before is "
                          "safe",
                          file, e.what())};
    case SQLITE_NOMEM:
      return {
          ErrorKind::harness,
          fmt::format("{}: not enough memory: a store is read as a whole into memory; free some",
                      file)};
    case SQLITE_TOOBIG:
      return {ErrorKind::unsound,
              fmt::format("{} is not sound: a value has more than {} bytes", file, kMostJsonBytes)};
    case SQLITE_ERROR:  // e.g. a statement that names a missing table or column
      return damaged(e).error;
    default:
      return {ErrorKind::harness, fmt::format("{}: SQLite reports: {} (code {})", file, e.what(),
                                              e.getExtendedErrorCode())};
  }
}

}  // namespace redzone::store
