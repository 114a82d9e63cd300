// Files that are not stores, cannot be written, or are in use.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "store/database.h"
#include "store/read_limit.h"
#include "store/sample.h"
#include "store/schema.h"
#include "store/store.h"

namespace redzone::store {
namespace {

using namespace testing;

constexpr auto kBoth = {OpenMode::read_write_create, OpenMode::read_only};

// A store with one finding, closed.
void make_store(const std::filesystem::path& path) {
  Store store = open_rw(path);
  must(store.record(sample_finding()));
}

void run_sql(const std::filesystem::path& path, const std::string& statements) {
  SQLite::Database db(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec(statements);
}

// Runs `body` in a child that is not root, so permissions apply; true if `body` returned true.
bool unprivileged(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(2);
    bool ok = false;
    try {
      ok = body();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    ::_exit(ok ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool error_says(const Error& error, ErrorKind kind, std::string_view text) {
  const bool ok = error.kind == kind && error.message.find(text) != std::string::npos;
  if (!ok) std::fprintf(stderr, "unexpected: %s\n", error.message.c_str());
  return ok;
}

TEST(StoreOpen, AClosedStoreIsOneFile) {
  TempDir dir;
  make_store(dir / "s.db");
  EXPECT_EQ(dir.listing(), "s.db");
}

TEST(StoreOpen, AnEmptyFileBecomesAStore) {
  TempDir dir;
  write_bytes(dir / "s.db", "");
  EXPECT_TRUE(must(open_ro(dir / "s.db").findings()).empty());
  EXPECT_EQ(bytes_of(dir / "s.db"), "");
  make_store(dir / "s.db");
  EXPECT_EQ(must(open_ro(dir / "s.db").findings()).size(), 1u);
}

TEST(StoreOpen, ReadingNeedsAFile) {
  TempDir dir;
  EXPECT_TRUE(error_says(open_error(dir / "s.db", OpenMode::read_only), ErrorKind::usage,
                         "does not exist"));
  EXPECT_EQ(dir.listing(), "");
}

TEST(StoreOpen, NoDatabase) {
  TempDir dir;
  for (std::string_view content :
       {"x", "SQLite format 3", "hello, this is a text of more than 16 bytes\n"}) {
    write_bytes(dir / "s.db", content);
    for (OpenMode mode : kBoth)
      EXPECT_TRUE(
          error_says(open_error(dir / "s.db", mode), ErrorKind::usage, "not a Redzone store"));
  }
  EXPECT_EQ(dir.listing(), "s.db");
}

TEST(StoreOpen, FoldersDevicesAndMissingFolders) {
  TempDir dir;
  std::filesystem::create_directory(dir / "folder");
  for (OpenMode mode : kBoth) {
    EXPECT_TRUE(error_says(open_error(dir / "folder", mode), ErrorKind::usage, "is a folder"));
    EXPECT_TRUE(error_says(open_error("/dev/null", mode), ErrorKind::usage, "not a regular file"));
    EXPECT_TRUE(error_says(open_error("", mode), ErrorKind::usage, "empty"));
    EXPECT_TRUE(
        error_says(open_error(dir / "no/s.db", mode), ErrorKind::usage, "no does not exist"));
    EXPECT_TRUE(error_says(open_error(dir / "folder/", mode), ErrorKind::usage, "is a folder"));
  }
}

TEST(StoreOpen, AnotherProgramsDatabase) {
  TempDir dir;
  run_sql(dir / "s.db", "CREATE TABLE t (x)");
  run_sql(dir / "id.db", "PRAGMA application_id = 5");
  run_sql(dir / "version.db", "PRAGMA user_version = 5");
  for (const char* name : {"s.db", "id.db", "version.db"})
    for (OpenMode mode : kBoth)
      EXPECT_TRUE(error_says(open_error(dir / name, mode), ErrorKind::usage, "of another program"));
  EXPECT_EQ(dir.listing(), "id.db s.db version.db");
}

TEST(StoreOpen, ANewerSchema) {
  TempDir dir;
  make_store(dir / "s.db");
  run_sql(dir / "s.db", "PRAGMA user_version = 999");
  for (OpenMode mode : kBoth)
    EXPECT_TRUE(error_says(
        open_error(dir / "s.db", mode), ErrorKind::usage,
        "schema version 999, this build reads up to " + std::to_string(migrations().size())));
  EXPECT_EQ(dir.listing(), "s.db");
}

TEST(StoreOpen, ANewerSchemaWithALeftLogIsNotTouched) {
  TempDir dir;
  make_store(dir / "s.db");
  // A writer that is killed leaves its log behind.
  const pid_t child = ::fork();
  if (child == 0) {
    run_sql(dir / "s.db", "PRAGMA user_version = 999; CREATE TABLE future (x)");
    SQLite::Database db((dir / "s.db").string(), SQLite::OPEN_READWRITE);
    db.exec("INSERT INTO future VALUES (1)");
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  const std::string log = bytes_of(dir / "s.db-wal");
  ASSERT_FALSE(log.empty());
  for (OpenMode mode : kBoth)
    EXPECT_TRUE(error_says(open_error(dir / "s.db", mode), ErrorKind::usage, "schema version 999"));
  EXPECT_EQ(bytes_of(dir / "s.db-wal"), log);
}

TEST(StoreOpen, ADamagedStore) {
  TempDir dir;
  make_store(dir / "good.db");
  const std::string good = bytes_of(dir / "good.db");
  for (const std::size_t size : {good.size() / 2, good.size() - 1}) {
    write_bytes(dir / "s.db", good.substr(0, size));
    for (OpenMode mode : kBoth) {
      SCOPED_TRACE(size);
      EXPECT_TRUE(error_says(open_error(dir / "s.db", mode), ErrorKind::unsound, "is corrupt"));
    }
  }
  std::string rotten = good;
  for (std::size_t i = 4096; i < rotten.size(); i += 3) rotten[i] ^= 0x5a;
  write_bytes(dir / "s.db", rotten);
  for (OpenMode mode : kBoth)
    EXPECT_TRUE(error_says(open_error(dir / "s.db", mode), ErrorKind::unsound, "is corrupt"));
}

TEST(StoreOpen, AReadOnlyFile) {
  TempDir dir;
  make_store(dir / "s.db");
  ::chmod((dir / "s.db").c_str(), 0444);
  ::chmod(dir.path().c_str(), 0777);
  EXPECT_TRUE(unprivileged([&] {
    return error_says(open_error(dir / "s.db"), ErrorKind::usage, "is read-only") &&
           must(open_ro(dir / "s.db").findings()).size() == 1;
  }));
  EXPECT_EQ(dir.listing(), "s.db");
}

TEST(StoreOpen, AReadOnlyFolder) {
  TempDir dir;
  make_store(dir / "s.db");
  ::chmod((dir / "s.db").c_str(), 0666);
  ::chmod(dir.path().c_str(), 0555);
  EXPECT_TRUE(unprivileged([&] {
    return error_says(open_error(dir / "s.db"), ErrorKind::usage, "folder") &&
           error_says(open_error(dir / "new.db"), ErrorKind::usage, "folder") &&
           must(open_ro(dir / "s.db").findings()).size() == 1;
  }));
  EXPECT_EQ(dir.listing(), "s.db");
}

TEST(StoreOpen, AnUnreadableFile) {
  TempDir dir;
  make_store(dir / "s.db");
  ::chmod((dir / "s.db").c_str(), 0);
  EXPECT_TRUE(unprivileged([&] {
    return error_says(open_error(dir / "s.db", OpenMode::read_only), ErrorKind::usage,
                      "permission denied");
  }));
}

TEST(StoreOpen, ReadingSeesWhatAWriterHasNotMovedIntoTheFile) {
  TempDir dir;
  Store writer = open_rw(dir / "s.db");
  must(writer.record(sample_finding(1)));
  Store reader = open_ro(dir / "s.db");
  must(writer.record(sample_finding(2)));
  EXPECT_EQ(must(reader.findings()).size(), 1u);
  EXPECT_EQ(must(open_ro(dir / "s.db").findings()).size(), 2u);
}

TEST(StoreOpen, ReadingThroughALinkSeesTheLogBesideTheFile) {
  TempDir dir;
  std::filesystem::create_directory(dir / "data");
  std::filesystem::create_symlink("data/s.db", dir / "link.db");
  const Store writer = [&] {
    Store store = open_rw(dir / "link.db");
    must(store.record(sample_finding()));
    return store;
  }();
  EXPECT_EQ(must(open_ro(dir / "link.db").findings()).size(), 1u);
  EXPECT_EQ(must(open_ro(dir / "data/s.db").findings()).size(), 1u);
}

// The log of a killed writer, in a folder that cannot be written.
TEST(StoreOpen, ALeftLogInAReadOnlyFolder) {
  TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    Store writer = open_rw(dir / "s.db");
    const bool recorded = writer.record(sample_finding()).has_value();
    ::_exit(recorded ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(dir.listing(), "s.db s.db-shm s.db-wal");
  for (const char* name : {"s.db", "s.db-shm", "s.db-wal"}) ::chmod((dir / name).c_str(), 0444);
  ::chmod(dir.path().c_str(), 0555);
  EXPECT_TRUE(unprivileged([&] { return must(open_ro(dir / "s.db").findings()).size() == 1; }));
  std::filesystem::remove(dir / "s.db-shm");
  EXPECT_TRUE(unprivileged([&] {
    return error_says(open_error(dir / "s.db", OpenMode::read_only), ErrorKind::usage,
                      "folder must be accessible");
  }));
  EXPECT_EQ(dir.listing(), "s.db s.db-wal");
}

// Closing a file drops all locks that the process holds on it. The writer's locks must survive;
// otherwise the next process that closes the store takes itself for the last one and removes the
// log.
TEST(StoreOpen, ReadingBesideAWriterKeepsTheWritersLocks) {
  TempDir dir;
  make_store(dir / "s.db");
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  // Forked before this process opens the store, since SQLite's state must not cross a fork.
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    if (::read(go[0], &byte, 1) != 1) ::_exit(1);
    const bool closed = Store::open(dir / "s.db", OpenMode::read_write_create).has_value();
    ::_exit(closed ? 0 : 1);
  }
  {
    Store writer = open_rw(dir / "s.db");
    EXPECT_EQ(must(open_ro(dir / "s.db").findings()).size(), 1u);
    EXPECT_EQ(::write(go[1], "x", 1), 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(dir.listing(), "s.db s.db-shm s.db-wal");
  }
  EXPECT_EQ(dir.listing(), "s.db");
  ::close(go[0]);
  ::close(go[1]);
}

TEST(StoreOpen, AReaderCannotWrite) {
  TempDir dir;
  make_store(dir / "s.db");
  const std::string before = bytes_of(dir / "s.db");
  Store reader = open_ro(dir / "s.db");
  const auto recorded = reader.record(sample_finding(2));
  ASSERT_FALSE(recorded);
  EXPECT_TRUE(error_says(recorded.error(), ErrorKind::usage, "reading only"));
  EXPECT_FALSE(reader.begin_campaign({}));
  EXPECT_EQ(bytes_of(dir / "s.db"), before);
  EXPECT_EQ(dir.listing(), "s.db");
}

TEST(StoreOpen, NamesThatAUriWouldMisread) {
  TempDir dir;
  for (const char* name : {"a?immutable=0.db", "b%41.db", "c#d.db", "e f.db"}) {
    make_store(dir / name);
    EXPECT_EQ(must(open_ro(dir / name).findings()).size(), 1u) << name;
  }
}

TEST(StoreOpen, ALockedStore) {
  TempDir dir;
  make_store(dir / "s.db");
  Store store = open_rw(dir / "s.db", {.busy_timeout = std::chrono::milliseconds(50)});
  SQLite::Database other((dir / "s.db").string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  const auto blocked = store.record(sample_finding(2));
  ASSERT_FALSE(blocked);
  EXPECT_TRUE(error_says(blocked.error(), ErrorKind::harness, "is locked"));
  EXPECT_NE(blocked.error().message.find("0.05 s"), std::string::npos);
  EXPECT_EQ(must(store.findings()).size(), 1u);
  other.exec("COMMIT");
  EXPECT_TRUE(store.record(sample_finding(2)));
}

TEST(StoreOpen, AFullDiskLosesNothingThatWasStored) {
  TempDir dir;
  make_store(dir / "s.db");
  Store store = open_rw(dir / "s.db", {.max_pages = 60});
  Finding big = sample_finding(2);
  big.fault_detail = std::string(1 << 20, 'x');
  const auto full = store.record(big);
  ASSERT_FALSE(full);
  EXPECT_TRUE(error_says(full.error(), ErrorKind::harness, "no space left"));
  EXPECT_EQ(must(store.findings()).size(), 1u);
  EXPECT_TRUE(store.record(sample_finding(3)));
  EXPECT_EQ(must(open_ro(dir / "s.db").findings()).size(), 2u);
}

// SQLite keeps the limit with the connection, so it is asked there.
TEST(StoreOpen, NoStoreGrowsBeyondWhatCanBeRead) {
  TempDir dir;
  make_store(dir / "s.db");
  Store store = open_rw(dir / "s.db");
  auto& sql = store.database().sql();
  const std::int64_t most = sql.execAndGet("PRAGMA max_page_count").getInt64() *
                            sql.execAndGet("PRAGMA page_size").getInt64();
  EXPECT_LE(most, kMostReadBytes);
  EXPECT_GT(most, kMostReadBytes / 2);
}

TEST(StoreOpen, ManyProcessesMayCreateTheSameStore) {
  TempDir dir;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 1;
      try {
        Store store = open_rw(dir / "s.db");
        must(store.record(sample_finding(i)));
        code = 0;
      } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
      }
      ::_exit(code);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(must(open_ro(dir / "s.db").findings()).size(), 8u);
}

// SQLite would go on writing to the file without a name.
TEST(StoreOpen, AFileThatIsGoneIsNotWritten) {
  const TempDir dir;
  for (const bool replaced : {false, true}) {
    Store store = open_rw(dir / "s.db");
    must(store.record(sample_finding(1)));
    std::filesystem::rename(dir / "s.db", dir / "other.db");
    if (replaced) std::filesystem::copy_file(dir / "other.db", dir / "s.db");
    const auto lost = store.record(sample_finding(2));
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().kind, ErrorKind::harness);
    EXPECT_NE(lost.error().message.find("was removed or replaced"), std::string::npos)
        << lost.error().message;
    std::filesystem::rename(dir / "other.db", dir / "s.db");
    must(store.record(sample_finding(2)));
  }
}

// Each writer would keep a log beside its own name of the file.
TEST(StoreOpen, AFileWithTwoNamesIsNotWritten) {
  const TempDir dir;
  must(open_rw(dir / "a.db").record(sample_finding(1)));
  std::filesystem::create_hard_link(dir / "a.db", dir / "b.db");
  const auto refused = Store::open(dir / "b.db", OpenMode::read_write_create);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_NE(refused.error().message.find("hard link"), std::string::npos);
  EXPECT_EQ(must(open_ro(dir / "b.db").findings()).size(), 1u) << "it can be read";
  std::filesystem::remove(dir / "b.db");
  must(open_rw(dir / "a.db").record(sample_finding(2)));
}

TEST(Open, AFileThatWouldFillTheMemoryIsNotRead) {
  TempDir dir;
  { must(open_rw(dir / "s.db").record(sample_finding())); }
  run_sql(dir / "s.db", "PRAGMA journal_mode = DELETE");
  // https://sqlite.org/fileformat.html, 1.3: the number of pages of 4096 bytes is at 28.
  std::string bytes = bytes_of(dir / "s.db");
  bytes[29] = 0x10;
  write_bytes(dir / "s.db", bytes);
  constexpr std::uintmax_t kPages = 0x100000;
  std::filesystem::resize_file(dir / "s.db",
                               4096 * (kPages + static_cast<unsigned char>(bytes[30]) * 256u +
                                       static_cast<unsigned char>(bytes[31])));  // sparse
  const auto store = Store::open(dir / "s.db", OpenMode::read_only);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().kind, ErrorKind::harness);
  EXPECT_NE(store.error().message.find("has 4096 MiB, a store that is read may have 2048"),
            std::string::npos)
      << store.error().message;
}

}  // namespace
}  // namespace redzone::store
