// Copies of stores that are being written, merged, pruned, restored or emptied, or are not stores.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "store/file_lock.h"
#include "store/merge.h"
#include "store/night.h"
#include "store/older.h"
#include "store/real_file.h"
#include "store/sample.h"
#include "store/schema.h"
#include "store/schema_columns.h"
#include "store/stored_rows.h"
#include "store/upkeep.h"

namespace redzone::store {
namespace {

using namespace testing;

class CopyStore : public ::testing::Test {
 protected:
  // A store with this many campaigns, each with one finding.
  void make(const char* name, int campaigns) {
    Store store = open_rw(dir_ / name);
    for (int i = 1; i <= campaigns; ++i) {
      Finding f = sample_finding(i);
      f.campaign = must(store.begin_campaign(sample_campaign()));
      must(store.record(f));
    }
  }
  // Adds nights without findings.
  void add_clean_nights(const char* name, int nights) {
    Store store = open_rw(dir_ / name);
    NightBook book(store);
    for (int i = 0; i < nights; ++i) {
      NightRun run;
      run.campaign = must(store.begin_campaign(sample_campaign()));
      run.exit_code = 0;
      must(book.begin(run));
      must(book.replayed(run.campaign, {"x", {}, "t", "", ReplayOutcome::passes, {0, 5}, "", 0}));
      must(book.target(run.campaign, {{1, 1, 1, 0, 0, 0, 0, 1}, "t", 1, ""}));
      must(store.end_campaign(run.campaign, {}));
    }
  }
  void change(const char* name, const std::string& statement) {
    SQLite::Database((dir_ / name).string(), SQLite::OPEN_READWRITE).exec(statement);
  }
  std::vector<std::string> copied(const char* from, const char* to) {
    return must(copy_store(dir_ / from, dir_ / to));
  }
  // Expects an error with this text, and no change of any file.
  void expect_refused(const char* from, const char* to, const std::string& says) {
    const std::string before = bytes_of(dir_ / to), listing = dir_.listing();
    const auto wrong = copied(from, to);
    ASSERT_EQ(wrong.size(), 1u) << says;
    EXPECT_NE(wrong[0].find(says), std::string::npos) << wrong[0];
    EXPECT_EQ(bytes_of(dir_ / to), before);
    EXPECT_EQ(dir_.listing(), listing);
  }
  std::size_t findings(const char* name) { return must(open_ro(dir_ / name).findings()).size(); }

  const TempDir dir_;
};

TEST_F(CopyStore, HasWhatIsOnlyInTheLog) {
  Store writer = open_rw(dir_ / "s.db");
  must(writer.record(sample_finding(1)));
  // What a plain copy of the file contains.
  write_bytes(dir_ / "plain.db", bytes_of(dir_ / "s.db"));
  EXPECT_EQ(findings("plain.db"), 0u);
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  EXPECT_EQ(findings("copy.db"), 1u);
  EXPECT_EQ(dir_.listing(), "copy.db plain.db s.db s.db-shm s.db-wal");
  // The copy is a normal store, and a newer version of its original may replace it.
  must(writer.record(sample_finding(2)));
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  must(open_rw(dir_ / "copy.db").record(sample_finding(3)));
  EXPECT_EQ(findings("copy.db"), 3u);
}

TEST_F(CopyStore, KeepsThePermissions) {
  make("s.db", 1);
  ::chmod((dir_ / "s.db").c_str(), 0640);
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  EXPECT_EQ(std::filesystem::status(dir_ / "copy.db").permissions(), std::filesystem::perms(0640));
}

TEST_F(CopyStore, NoCopyGivesWayToLess) {
  make("few.db", 2);
  EXPECT_TRUE(copied("few.db", "many.db").empty());
  make("many.db", 3);
  write_bytes(dir_ / "empty.db", "");
  expect_refused("few.db", "many.db",
                 "few.db lacks what is in " + (dir_ / "many.db: campaigns 3, 4, 5").string());
  expect_refused("empty.db", "many.db", "many.db: campaigns 1, 2, 3, 4, 5; findings 1, 2, 3");
  EXPECT_EQ(findings("many.db"), 3u);
  EXPECT_TRUE(copied("few.db", "empty.db").empty());
  EXPECT_TRUE(copied("many.db", "few.db").empty());
  EXPECT_EQ(findings("few.db"), 3u);
  // The ledger has a mark that the other store lacks, although the other store was seen later.
  must(open_rw(dir_ / "few.db").mark(1, {"", LedgerEvent::known, "https://x/1", ""}));
  must(open_rw(dir_ / "many.db").enter(1, {"", LedgerEvent::failed, "", ""}));
  expect_refused("many.db", "few.db", ": entries of the ledgers of findings 1");
  expect_refused("few.db", "many.db", ": entries of the ledgers of findings 1");
}

TEST_F(CopyStore, TellsOfTheFirstFewThatAreLacking) {
  make("many.db", 8);
  make("few.db", 1);
  expect_refused("few.db", "many.db", "campaigns 1, 2, 3, 4, 5 and 3 more; ");
}

TEST_F(CopyStore, AnOlderCopyLacksWhatCameSince) {
  make("s.db", 1);
  EXPECT_TRUE(copied("s.db", "old.db").empty());
  must(open_rw(dir_ / "s.db").mark(1, {"", LedgerEvent::known, "https://x/1", ""}));
  EXPECT_TRUE(copied("s.db", "good.db").empty());
  expect_refused("old.db", "good.db", ": entries of the ledgers of findings 1");
}

// A night without findings is a result, too.
TEST_F(CopyStore, CleanNightsAreNotLost) {
  add_clean_nights("nights.db", 3);
  add_clean_nights("one.db", 1);
  make("found.db", 1);
  write_bytes(dir_ / "empty.db", "");
  for (const char* from : {"one.db", "found.db", "empty.db"})
    expect_refused(from, "nights.db", "nights.db: campaigns 1, 2, 3");
}

TEST_F(CopyStore, ProbesAndEvidenceAreNotLost) {
  make("s.db", 1);
  const Finding f = must(open_ro(dir_ / "s.db").finding(1));
  const auto refused_after = [&](const char* says, auto add) {
    std::filesystem::remove(dir_ / "copy.db");
    EXPECT_TRUE(copied("s.db", "copy.db").empty());
    add(open_rw(dir_ / "copy.db"));
    expect_refused("s.db", "copy.db", says);
    EXPECT_TRUE(copied("copy.db", "s.db").empty()) << "nothing is lost of its older copy";
  };
  refused_after(": trials of findings 1",
                [&](Store store) { must(store.add_trial(1, "replay", f.plan, {}, {}, {})); });
  refused_after(": artifacts of findings 1",
                [](Store store) { must(store.add_artifact(1, "log", "worker", "last words")); });
  refused_after(": probes of findings 1", [&](Store store) {
    must(store.add_probe({1, "host", "c0de"}, f.plan, {"", 3, 0, 1, 0, ""}));
  });
  refused_after(": findings 1", [](Store store) {
    must(store.resume_campaign(1));
    must(store.sighted(1, 5));
  });
}

// For failures without triage, the suspect is the only record.
TEST_F(CopyStore, SuspectsAreNotLost) {
  Finding suspect = sample_finding();
  suspect.state = FindingState::suspect;
  must(open_rw(dir_ / "suspects.db").record(suspect));
  add_clean_nights("campaigns.db", 1);
  expect_refused("campaigns.db", "suspects.db", ": findings 1");
}

// Rows that another program deletes are reported as missing, unlike those that a command removes.
TEST_F(CopyStore, WhatNoCommandRemovesIsMissed) {
  add_clean_nights("s.db", 2);
  make("s.db", 1);
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  const std::string good = bytes_of(dir_ / "s.db");
  for (const auto& [statement, says] :
       {std::pair{"DELETE FROM night_replays WHERE campaign_id = 2", "replays of nights 2"},
        {"DELETE FROM night_targets WHERE campaign_id = 2", "targets of nights 2"},
        {"DELETE FROM night_targets; DELETE FROM night_replays; DELETE FROM nights", "nights 1, 2"},
        {"DELETE FROM night_targets; DELETE FROM night_replays; DELETE FROM nights; "
         "DELETE FROM campaigns WHERE id < 3",
         "campaigns 1, 2"},
        {"DELETE FROM occurrences; DELETE FROM culprits; DELETE FROM attributions; "
         "DELETE FROM findings",
         "findings 1"}}) {
    write_bytes(dir_ / "s.db", good);
    change("s.db", statement);
    expect_refused("s.db", "copy.db", says);
  }
}

// An older copy that was extended on its own.
TEST_F(CopyStore, TwoThatWentOnApartDoNotReplaceEachOther) {
  make("s.db", 1);
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  add_clean_nights("s.db", 1);
  add_clean_nights("copy.db", 1);
  expect_refused("s.db", "copy.db", ": campaigns 2");
  expect_refused("copy.db", "s.db", ": campaigns 2");
  {
    Store from = open_ro(dir_ / "copy.db"), into = open_rw(dir_ / "s.db");
    must(merge(from, into));
  }
  EXPECT_TRUE(copied("s.db", "copy.db").empty()) << "it has the nights of both";
  EXPECT_EQ(must(open_ro(dir_ / "copy.db").campaigns()).size(), 3u);
}

// The same with stores that have no table of writers: their campaigns are compared instead.
TEST_F(CopyStore, StoresOfOlderBuildsAreComparedByCampaign) {
  make("s.db", 2);
  const auto age = [&](const char* name) {
    constexpr int kBeforeWriters = 9;
    change(name, kToVersion18);
    change(name, "DROP TABLE writers");
    change(name, "ALTER TABLE occurrences RENAME TO sightings");
    change(name, "ALTER TABLE findings RENAME COLUMN occurrences TO sightings");
    for (const char* column : {"outputs_by_digests", "outputs_by_nothing", "outputs_not_judged",
                               "spec_error", "reference_sampled"})
      change(name, fmt::format("ALTER TABLE night_targets DROP COLUMN {}", column));
    change(name, "ALTER TABLE campaigns DROP COLUMN reference_sampled");
    for (const char* column : {"alignment", "callers"})
      change(name, fmt::format("ALTER TABLE trials DROP COLUMN {}", column));
    for (const char* column : {"origin", "origin_document", "origin_merged"})
      change(name, fmt::format("ALTER TABLE findings DROP COLUMN {}", column));
    change(name, fmt::format("PRAGMA user_version = {}", kBeforeWriters));
  };
  age("s.db");
  write_bytes(dir_ / "old.db", bytes_of(dir_ / "s.db"));
  write_bytes(dir_ / "copy.db", bytes_of(dir_ / "s.db"));
  add_clean_nights("s.db", 1);
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  expect_refused("old.db", "copy.db", ": campaigns");
}

TEST_F(CopyStore, EveryTableIsCompared) {
  std::set<std::string> compared{"plans", "environments", "writers", "sqlite_sequence",
                                 // What is lost with it is only that a copy is merged once more.
                                 "merged_copies"};
  for (const auto& table : kept_tables()) compared.insert(table.name);
  for (const auto& [table, columns] : known_columns())
    EXPECT_TRUE(compared.contains(table)) << table;
}

// The merged store has new ids and fewer rows than the runner's store ever had, yet nothing of it
// is lost.
TEST_F(CopyStore, AMergedStoreTakesTheRunnersPlace) {
  {
    Store a = open_rw(dir_ / "a.db");
    for (int i = 0; i < 4; ++i) {
      const auto id = must(a.begin_campaign(sample_campaign()));
      must(a.end_campaign(id, {}));
    }
    Finding noise = sample_finding(7);
    noise.state = FindingState::unconfirmed;
    must(a.record(noise));
    must(a.enter(must(a.record(sample_finding(2))).id, {"", LedgerEvent::failed, "", ""}));
    must(prune(a, 0));
  }
  make("b.db", 1);
  EXPECT_TRUE(copied("a.db", "good.db").empty());
  {
    Store all = open_rw(dir_ / "all.db"), a = open_ro(dir_ / "a.db"), b = open_ro(dir_ / "b.db");
    must(merge(b, all));
    must(merge(a, all));
    must(all.mark(2, {"", LedgerEvent::known, "https://x/1", ""}));
  }
  EXPECT_TRUE(copied("all.db", "good.db").empty());
  EXPECT_EQ(findings("good.db"), 2u);
  expect_refused("a.db", "good.db", "good.db: ");
}

// A user's mark on a suspect survives when triage merges the suspect into another finding.
TEST_F(CopyStore, AMarkMayBeOfAnotherFindingSince) {
  Finding suspect = sample_finding(1);
  suspect.state = FindingState::suspect;
  {
    Store store = open_rw(dir_ / "s.db");
    must(store.record(suspect));
    must(store.mark(1, {"", LedgerEvent::known, "https://x/1", ""}));
  }
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  Finding settled = sample_finding(2);
  settled.id = 1;
  must(open_rw(dir_ / "s.db").settle(settled));
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  EXPECT_EQ(must(open_ro(dir_ / "copy.db").find(settled.signature))->ledger.standing,
            Standing::known);
}

TEST_F(CopyStore, LinksAreFollowed) {
  Store writer = open_rw(dir_ / "s.db");
  must(writer.record(sample_finding(1)));
  std::filesystem::create_directory(dir_ / "sub");
  std::filesystem::create_symlink("../s.db", dir_ / "sub/from");
  std::filesystem::create_symlink("to", dir_ / "sub/link");
  std::filesystem::create_symlink(dir_ / "copy.db", dir_ / "sub/to");
  EXPECT_EQ(findings("sub/from"), 1u) << "which is only in the log";
  EXPECT_TRUE(copied("sub/from", "sub/link").empty());
  EXPECT_TRUE(std::filesystem::is_regular_file(dir_ / "copy.db"));
  EXPECT_TRUE(std::filesystem::is_symlink(dir_ / "sub/to"));
  EXPECT_EQ(findings("sub/link"), 1u);
  EXPECT_EQ(copy_store(dir_ / "sub/from", dir_ / "s.db").error().kind, ErrorKind::usage);
  // One lock for all paths of a store.
  const auto held = must(FileLock::take(dir_ / "sub/link", "a job"));
  EXPECT_FALSE(FileLock::take(dir_ / "copy.db", "a job"));
  std::filesystem::remove(dir_ / "copy.db");
  EXPECT_FALSE(FileLock::take(dir_ / "sub/to", "a job")) << "also of what is not there yet";
  std::filesystem::create_symlink("ring", dir_ / "ring");
  EXPECT_EQ(real_file(dir_ / "ring"), dir_ / "ring");
}

// A file of that name may be a user's.
TEST_F(CopyStore, ALockTakesNoOtherFilesPlace) {
  const auto refuses = [&](const std::string& says) {
    const auto lock = FileLock::take(dir_ / "s.db", "a job");
    ASSERT_FALSE(lock) << says;
    EXPECT_EQ(lock.error().kind, ErrorKind::usage);
    EXPECT_NE(lock.error().message.find("s.db-lock: " + says), std::string::npos)
        << lock.error().message;
  };
  const std::string notes = "my notes\n";
  write_bytes(dir_ / "s.db-lock", notes);
  refuses("is not the lock of a store");
  EXPECT_EQ(bytes_of(dir_ / "s.db-lock"), notes);
  std::filesystem::rename(dir_ / "s.db-lock", dir_ / "notes");
  std::filesystem::create_symlink("notes", dir_ / "s.db-lock");
  refuses("is a symbolic link");
  EXPECT_EQ(bytes_of(dir_ / "notes"), notes);
  std::filesystem::remove(dir_ / "s.db-lock");
  ASSERT_EQ(::mkfifo((dir_ / "s.db-lock").c_str(), 0600), 0);
  refuses("is not a regular file");
  std::filesystem::remove(dir_ / "s.db-lock");
  write_bytes(dir_ / "s.db-lock", "process of the review");
  refuses("is not the lock of a store");
  const std::string cut_off(37, '\0');  // by a power failure
  for (const std::string& of_before :
       {std::string(), std::string("process 7 since 2025-01-31T02:00:00Z"), cut_off}) {
    write_bytes(dir_ / "s.db-lock", of_before);
    EXPECT_TRUE(FileLock::take(dir_ / "s.db", "a job")) << of_before;
  }
  const auto held = must(FileLock::take(dir_ / "s.db", "a job"));
  write_bytes(dir_ / "s.db-lock", "process \x1b[2J\nFAKE");
  const auto second = FileLock::take(dir_ / "s.db", "a job");
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("(process \\x1b[2J\\nFAKE)"), std::string::npos)
      << second.error().message;
}

TEST_F(CopyStore, APrunedStoreHasSeenNoLess) {
  {
    Store store = open_rw(dir_ / "s.db");
    must(store.begin_campaign(sample_campaign()));
    Finding noise = sample_finding();
    noise.state = FindingState::unconfirmed;
    const auto id = must(store.record(sample_finding(2))).id;
    must(store.record(noise));
    for (int day = 10; day < 20; ++day)
      must(
          store.enter(id, {fmt::format("2025-01-{}T12:00:00Z", day), LedgerEvent::failed, "", ""}));
    must(store.begin_campaign(sample_campaign()));
    must(store.end_campaign(2, {}));
  }
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  Store store = open_rw(dir_ / "s.db");
  const PruneResult pruned = must(prune(store, 0));
  EXPECT_EQ(pruned.findings, 1);
  EXPECT_EQ(pruned.campaigns, 2);
  EXPECT_EQ(pruned.entries, 8);
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  EXPECT_EQ(findings("copy.db"), 1u);
}

TEST_F(CopyStore, WhatIsUnsoundIsNotCopied) {
  make("s.db", 1);
  const std::string good = bytes_of(dir_ / "s.db");
  std::string zeroed = good;
  std::fill_n(zeroed.begin(), 4096, '\0');
  write_bytes(dir_ / "bad.db", zeroed);
  expect_refused("bad.db", "copy.db", "is not a Redzone store");
  write_bytes(dir_ / "bad.db", good.substr(0, 60));
  expect_refused("bad.db", "s.db", "is not a Redzone store");
  write_bytes(dir_ / "bad.db", good.substr(0, good.size() / 2));
  expect_refused("bad.db", "s.db", "is corrupt");
  write_bytes(dir_ / "bad.db", good);
  SQLite::Database((dir_ / "bad.db").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE findings SET state = 'bogus'");
  expect_refused("bad.db", "s.db", "state 'bogus'");
}

// An unreadable file gives an error, not a statement about the contents of the store.
TEST_F(CopyStore, WhatCannotBeReadIsAnError) {
  make("s.db", 1);
  EXPECT_EQ(copy_store(dir_ / "no.db", dir_ / "copy.db").error().kind, ErrorKind::usage);
  EXPECT_EQ(copy_store(dir_ / "s.db", dir_ / "no/copy.db").error().kind, ErrorKind::usage);
  EXPECT_EQ(copy_store(dir_ / "s.db", dir_ / "s.db").error().kind, ErrorKind::usage);
  write_bytes(dir_ / "text.db", "somebody's letters");
  EXPECT_EQ(copy_store(dir_ / "s.db", dir_ / "text.db").error().kind, ErrorKind::usage);
  EXPECT_EQ(bytes_of(dir_ / "text.db"), "somebody's letters");
  SQLite::Database sql((dir_ / "s.db").string(), SQLite::OPEN_READWRITE);
  sql.exec("PRAGMA user_version = 999");
  EXPECT_EQ(copy_store(dir_ / "s.db", dir_ / "copy.db").error().kind, ErrorKind::usage);
  EXPECT_EQ(check(dir_ / "s.db").error().kind, ErrorKind::usage);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "copy.db"));
}

TEST_F(CopyStore, AStoreWithALogIsNotReplaced) {
  make("s.db", 1);
  Store writer = open_rw(dir_ / "copy.db");
  must(writer.record(sample_finding(1)));
  const auto refused = copy_store(dir_ / "s.db", dir_ / "copy.db");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("copy.db-wal exists"), std::string::npos);
  EXPECT_EQ(findings("copy.db"), 1u);
}

// The log of a process that has opened a file belongs to that file, whatever is renamed to its
// name.
TEST_F(CopyStore, ReplacesTheContentsAndNotTheFile) {
  make("s.db", 3);
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  struct stat before {
  }, after{};
  ::stat((dir_ / "copy.db").c_str(), &before);
  must(open_rw(dir_ / "s.db").record(sample_finding(9)));
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  ::stat((dir_ / "copy.db").c_str(), &after);
  EXPECT_EQ(after.st_ino, before.st_ino);
  EXPECT_EQ(findings("copy.db"), 4u);
  EXPECT_TRUE(must(check(dir_ / "copy.db")).empty());
}

TEST_F(CopyStore, NobodyWritesWhileTheContentsAreReplaced) {
  make("s.db", 1);
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  SQLite::Database writer((dir_ / "copy.db").string(), SQLite::OPEN_READWRITE);
  writer.exec("PRAGMA journal_mode = DELETE");
  writer.exec("BEGIN IMMEDIATE");
  const auto refused = copy_store(dir_ / "s.db", dir_ / "copy.db");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::harness);
  EXPECT_NE(refused.error().message.find("locked"), std::string::npos) << refused.error().message;
  writer.exec("COMMIT");
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
}

}  // namespace
}  // namespace redzone::store
