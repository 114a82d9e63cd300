// An open SQLite file of the right kind and version. The only place where SQLite's exceptions
// become errors. Internal to the store.
#pragma once

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>
#include <variant>

#include "core/error.h"
#include "store/schema.h"
#include "store/store.h"

namespace redzone::store {

// For errors in rows rather than in SQLite. Thrown only inside attempt().
struct Failure {
  Error error;
  bool no_store = false;  // the file can be read, but is not a store
};

// full: the commit is on the disk when the call returns. lazy: a power cut may lose the last
// commits; a killed process loses none.
enum class Durability : std::uint8_t { full, lazy };

// Not copyable or movable, because transactions refer to it. Single-threaded.
class Database {
 public:
  // read_write_create: checks that the file is a store of a known version before the first byte is
  // written, then migrates it in one transaction. read_only: copies the whole file into memory and
  // migrates the copy, so that reading needs no write access, creates no -wal or -shm file, and
  // sees one snapshot of a store that a campaign is writing.
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& path, OpenMode mode,
                                                const OpenOptions& options, Migrations steps);
  // Like open() for reading, but damaged contents are not an error: an error means that the
  // contents are unknown (no such file, no permission, locked, out of memory, a newer schema).
  // Returns the database, or one line that describes the damage or the file's actual type.
  static Result<std::variant<std::unique_ptr<Database>, std::string>> examine(
      const std::filesystem::path& path, const OpenOptions& options, Migrations steps);

  // Copies everything into `file`, which must be empty; the copy is on the disk on return. Errors
  // name `wanted`, the final name of `file`.
  Result<void> copy_to(const std::filesystem::path& file, const std::filesystem::path& wanted);

  const std::filesystem::path& path() const { return path_; }
  SQLite::Database& sql() { return *sql_; }
  // Name of this database among the writers of the file (writer_table.h).
  const std::string& writer() const { return writer_; }

  // Runs `body` in one read transaction: all its statements see the same snapshot.
  template <class Body>
  auto read(Body body) {
    return transact(SQLite::TransactionBehavior::DEFERRED, durability_, body);
  }
  // Runs `body` outside of any transaction.
  template <class Body>
  auto outside(Body body) {
    return attempt(body);
  }
  // Runs `body` in one write transaction: either all of its changes are stored or none.
  template <class Body>
  auto write(Durability durability, Body body) {
    const auto counted = [&] {
      check_place();
      const int before = sql_->getTotalChanges();
      if constexpr (std::is_void_v<decltype(body())>) {
        body();
        count_write_since(before);
      } else {
        auto result = body();
        count_write_since(before);
        return result;
      }
    };
    return transact(SQLite::TransactionBehavior::IMMEDIATE, durability, counted);
  }
  // Like write(), for changes that add no information of this writer: a prune, a merge.
  template <class Body>
  auto write_nothing_new(Durability durability, Body body) {
    return transact(SQLite::TransactionBehavior::IMMEDIATE, durability, body);
  }

 private:
  explicit Database(std::filesystem::path path);

  void open_for_writing(const OpenOptions& options, Migrations steps);
  std::string enter_wal();  // returns the resulting journal mode
  void open_snapshot(const OpenOptions& options, Migrations steps);
  bool copy_to_memory(const OpenOptions& options);
  void check_size(SQLite::Database& source) const;
  void bound_values();
  // Returns whether the file is empty. Throws if it is not a store, or too new.
  bool identify(Migrations steps);
  // Throws if pages are damaged, or if the tables and indexes are not those of a store of the
  // file's version. Checks tables and indexes first, because SQLite evaluates their constraints.
  void quick_check(Migrations steps);
  void check_schema(Migrations steps);
  void migrate(Migrations steps);
  void set(Durability durability);
  // Throws if the file is no longer at its path, because SQLite keeps writing to a removed file.
  void check_place() const;
  std::int64_t pragma(const char* name);
  // Counts this transaction as a write if it changed rows. `changes`: SQLite's change count at its
  // start.
  void count_write_since(int changes);
  Failure damaged(const SQLite::Exception& e) const;
  // Describes SQLite's error in one line that names the file and a remedy.
  Error explain(const SQLite::Exception& e) const;

  template <class Body>
  auto attempt(Body body) -> Result<decltype(body())> {
    try {
      if constexpr (std::is_void_v<decltype(body())>) {
        body();
        return {};
      } else {
        return body();
      }
    } catch (const SQLite::Exception& e) {
      return tl::unexpected(explain(e));
    } catch (const Failure& f) {
      return tl::unexpected(f.error);
    } catch (const std::exception& e) {  // out of memory, a path that cannot be resolved
      return harness_error(path_.string() + ": " + e.what());
    }
  }

  template <class Body>
  auto transact(SQLite::TransactionBehavior behavior, Durability durability, Body& body) {
    return attempt([&] {
      set(durability);
      SQLite::Transaction transaction(*sql_, behavior);
      if constexpr (std::is_void_v<decltype(body())>) {
        body();
        transaction.commit();
      } else {
        auto result = body();
        transaction.commit();
        return result;
      }
    });
  }

  std::filesystem::path path_;
  std::filesystem::path real_;  // the resolved file, beside which SQLite keeps its log
  struct stat opened_ = {};     // status of the file when it was opened for writing
  std::string writer_;
  std::unique_ptr<SQLite::Database> sql_;
  std::chrono::milliseconds busy_timeout_{0};
  Durability durability_ = Durability::full;
};
}  // namespace redzone::store
