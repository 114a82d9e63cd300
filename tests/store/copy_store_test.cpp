// Copies of stores that are written to, were emptied, or are none.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

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
  EXPECT_EQ(must(copy_store(dir_ / "few.db", dir_ / "many.db")).size(), 2u);
  EXPECT_EQ(must(copy_store(dir_ / "empty.db", dir_ / "many.db")).size(), 2u);
  EXPECT_EQ(findings("many.db"), 3u);
  EXPECT_TRUE(copied("few.db", "empty.db").empty());
  EXPECT_TRUE(copied("many.db", "few.db").empty());
  EXPECT_EQ(findings("few.db"), 3u);
  // A mark that it has not.
  must(open_rw(dir_ / "few.db").mark(1, {"", LedgerEvent::known, "https://x/1", ""}));
  expect_refused("many.db", "few.db", "many.db end empty");
  EXPECT_TRUE(copied("few.db", "many.db").empty());
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
