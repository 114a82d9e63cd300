// Copies of stores that are written to, merged, pruned, put back or emptied, or are none.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "store/file_lock.h"
#include "store/merge.h"
#include "store/real_file.h"
#include "store/sample.h"
#include "store/upkeep.h"

namespace redzone::store {
namespace {

using namespace testing;

class CopyStore : public ::testing::Test {
 protected:
  // A store that has seen so many campaigns, each with a finding.
  void make(const char* name, int campaigns) {
    Store store = open_rw(dir_ / name);
    for (int i = 1; i <= campaigns; ++i) {
      Finding f = sample_finding(i);
      f.campaign = must(store.begin_campaign(sample_campaign()));
      must(store.record(f));
    }
  }
  std::vector<std::string> copied(const char* from, const char* to) {
    return must(copy_store(dir_ / from, dir_ / to));
  }
  // It says so, and changes nothing.
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
  // What a plain copy of the file has.
  write_bytes(dir_ / "plain.db", bytes_of(dir_ / "s.db"));
  EXPECT_EQ(findings("plain.db"), 0u);
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  EXPECT_EQ(findings("copy.db"), 1u);
  EXPECT_EQ(dir_.listing(), "copy.db plain.db s.db s.db-shm s.db-wal");
  // It is a store like any other, which gives way to what has seen more.
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
  make("many.db", 3);
  make("few.db", 2);
  write_bytes(dir_ / "empty.db", "");
  expect_refused("few.db", "many.db", "few.db lacks findings of " + (dir_ / "many.db: 3").string());
  expect_refused("empty.db", "many.db", "many.db: 1, 2, 3");
  EXPECT_EQ(findings("many.db"), 3u);
  EXPECT_TRUE(copied("few.db", "empty.db").empty());
  EXPECT_TRUE(copied("many.db", "few.db").empty());
  EXPECT_EQ(findings("few.db"), 3u);
  // A mark that it has not, though it was seen later.
  must(open_rw(dir_ / "few.db").mark(1, {"", LedgerEvent::known, "https://x/1", ""}));
  must(open_rw(dir_ / "many.db").enter(1, {"", LedgerEvent::failed, "", ""}));
  expect_refused("many.db", "few.db", "many.db lacks marks of findings of");
  expect_refused("few.db", "many.db", "few.db lacks the latest runs of findings of");
}

TEST_F(CopyStore, TellsOfTheFirstFewThatAreLacking) {
  make("many.db", 8);
  make("few.db", 1);
  expect_refused("few.db", "many.db", "2, 3, 4, 5, 6 and 2 more");
}

TEST_F(CopyStore, AnOlderCopyLacksWhatCameSince) {
  make("s.db", 1);
  EXPECT_TRUE(copied("s.db", "old.db").empty());
  must(open_rw(dir_ / "s.db").mark(1, {"", LedgerEvent::known, "https://x/1", ""}));
  EXPECT_TRUE(copied("s.db", "good.db").empty());
  expect_refused("old.db", "good.db", "lacks marks of");
}

// Suspects are renamed and pruned; but they are all that a store has that was never looked into.
TEST_F(CopyStore, SuspectsAreLackedOnlyByWhatNeverHeldAny) {
  Finding suspect = sample_finding();
  suspect.state = State::suspect;
  must(open_rw(dir_ / "suspects.db").record(suspect));
  make("campaigns.db", 0);
  must(open_rw(dir_ / "campaigns.db").begin_campaign(sample_campaign()));
  write_bytes(dir_ / "empty.db", "");
  expect_refused("empty.db", "suspects.db", "lacks findings of");
  EXPECT_TRUE(copied("campaigns.db", "suspects.db").empty());
  // Nothing is lost of a store without findings.
  EXPECT_TRUE(copied("empty.db", "campaigns.db").empty());
}

// Numbered anew, with less rows than the runner's ever had, and nothing of them is lost.
TEST_F(CopyStore, AMergedStoreTakesTheRunnersPlace) {
  {
    Store a = open_rw(dir_ / "a.db");
    for (int i = 0; i < 4; ++i) {
      const auto id = must(a.begin_campaign(sample_campaign()));
      must(a.end_campaign(id, {}));
    }
    Finding noise = sample_finding(7);
    noise.state = State::unconfirmed;
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
  EXPECT_EQ(copied("a.db", "good.db").size(), 2u) << "a finding, and the mark of the other";
}

// What a person said of a suspect is not lost when triage gives it the name of another.
TEST_F(CopyStore, AMarkMayBeOfAnotherFindingSince) {
  Finding suspect = sample_finding(1);
  suspect.state = State::suspect;
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
  // One lock for all names.
  const auto held = must(FileLock::take(dir_ / "sub/link", "a job"));
  EXPECT_FALSE(FileLock::take(dir_ / "copy.db", "a job"));
  std::filesystem::remove(dir_ / "copy.db");
  EXPECT_FALSE(FileLock::take(dir_ / "sub/to", "a job")) << "also of what is not there yet";
  std::filesystem::create_symlink("ring", dir_ / "ring");
  EXPECT_EQ(real_file(dir_ / "ring"), dir_ / "ring");
}

TEST_F(CopyStore, APrunedStoreHasSeenNoLess) {
  {
    Store store = open_rw(dir_ / "s.db");
    must(store.begin_campaign(sample_campaign()));
    Finding noise = sample_finding();
    noise.state = State::unconfirmed;
    const auto id = must(store.record(sample_finding(2))).id;
    must(store.record(noise));
    for (int day = 10; day < 20; ++day)
      must(store.enter(id, {"2025-01-" + std::to_string(day), LedgerEvent::failed, "", ""}));
    must(store.begin_campaign(sample_campaign()));
    must(store.end_campaign(2, {}));
  }
  EXPECT_TRUE(copied("s.db", "copy.db").empty());
  Store store = open_rw(dir_ / "s.db");
  const Pruned pruned = must(prune(store, 0));
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

// That says nothing of what the file holds, so it is an error and not a word on the store.
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
  EXPECT_NE(refused.error().message.find("copy.db-wal is there"), std::string::npos);
  EXPECT_EQ(findings("copy.db"), 1u);
}

}  // namespace
}  // namespace redzone::store
