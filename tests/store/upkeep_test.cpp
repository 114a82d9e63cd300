// Maintenance of stores that are used for months.
#include "store/upkeep.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/campaign_record.h"
#include "core/utc.h"
#include "store/night.h"
#include "store/sample.h"

namespace redzone::store {
namespace {

using namespace testing;

class Upkeep : public ::testing::Test {
 protected:
  // An old campaign with a night; returns its id.
  std::int64_t old_night() {
    CampaignRecord c = sample_campaign();
    NightRun run;
    run.campaign = must(store_.begin_campaign(c));
    must(NightBook(store_).begin(run));
    must(NightBook(store_).replayed(run.campaign,
                                    {"x", {}, "t", "", ReplayOutcome::passes, {0, 5}, "", 0}));
    must(NightBook(store_).target(run.campaign, {{1, 1, 1, 0, 0, 0, 0, 1}, "t", 1, ""}));
    return run.campaign;
  }
  std::int64_t old_finding(int n, FindingState state, std::int64_t campaign = 0) {
    Finding f = sample_finding(n);
    f.state = state;
    f.campaign = campaign;
    const auto id = must(store_.record(f)).id;
    must(store_.add_trial(id, "confirm", plan_of(50 + n), {}, {}, {}));
    return id;
  }

  TempDir dir_;
  Store store_ = open_rw(dir_ / "s.db");
};

TEST_F(Upkeep, PruningKeepsWhatWasConfirmedOrMarkedWithItsEvidence) {
  const auto first = old_night();
  old_night();
  const auto confirmed = old_finding(1, FindingState::confirmed, first);
  const auto flaky = old_finding(2, FindingState::flaky);
  const auto suspect = old_finding(3, FindingState::suspect);
  const auto marked = old_finding(4, FindingState::unconfirmed);
  must(store_.mark(marked, {"", LedgerEvent::known, "https://x/1", ""}));
  const auto noise = old_finding(5, FindingState::unconfirmed);
  for (int day = 10; day < 20; ++day)
    must(store_.enter(confirmed,
                      {fmt::format("2025-01-{}T12:00:00Z", day), LedgerEvent::failed, "", ""}));
  const Finding before = must(store_.finding(confirmed));

  const PruneResult pruned = must(prune(store_, 30));
  EXPECT_EQ(pruned.findings, 1);
  EXPECT_EQ(pruned.campaigns, 1) << "that of a finding stays";
  EXPECT_EQ(pruned.entries, 8);
  EXPECT_GT(pruned.bytes_after, 0);
  EXPECT_FALSE(store_.finding(noise));
  for (const auto id : {confirmed, flaky, suspect, marked}) {
    EXPECT_TRUE(store_.finding(id)) << id;
    EXPECT_EQ(must(store_.trials(id)).size(), 1u) << id;
  }
  EXPECT_TRUE(equal(must(store_.finding(confirmed)), before));
  EXPECT_EQ(must(store_.finding(confirmed)).ledger, before.ledger);
  EXPECT_EQ(must(NightBook(store_).runs()).size(), 1u);
  EXPECT_TRUE(must(check(store_)).empty());
  const PruneResult again = must(prune(store_, 30));
  EXPECT_EQ(again.findings + again.campaigns + again.entries, 0);
}

TEST_F(Upkeep, WhatIsYoungerStays) {
  Finding f = sample_finding();
  f.state = FindingState::unconfirmed;
  f.last_seen = utc_now();
  must(store_.record(f));
  CampaignRecord c = sample_campaign();
  c.started = "";
  must(store_.begin_campaign(c));
  const PruneResult pruned = must(prune(store_, 1));
  EXPECT_EQ(pruned.findings + pruned.campaigns, 0);
  EXPECT_EQ(must(prune(store_, 0)).campaigns, 0);
}

// It is running, or the next night resumes it.
TEST_F(Upkeep, ANightOfTodayThatHasNotEndedStays) {
  for (const double days : {0.9, 1.1}) {
    CampaignRecord c = sample_campaign();
    c.started = utc_days_ago(days);
    must(store_.begin_campaign(c));
  }
  EXPECT_EQ(must(prune(store_, 0)).campaigns, 1);
  EXPECT_EQ(must(prune(store_, 0)).campaigns, 0);
}

TEST_F(Upkeep, CheckNamesWhatIsWrong) {
  old_finding(1, FindingState::confirmed);
  EXPECT_TRUE(must(check(store_)).empty());
  SQLite::Database sql((dir_ / "s.db").string(), SQLite::OPEN_READWRITE);
  sql.exec("UPDATE plans SET text = 'rubbish' WHERE id = 1");
  sql.exec("UPDATE plans SET hash = 'other' WHERE id = 2");
  sql.exec("UPDATE findings SET occurrences = 7, buffer = 'z'");
  sql.exec(
      "INSERT INTO culprits SELECT 99, position, source, call, kernel, access, buffer, side, "
      "location, detail FROM culprits");
  const auto wrong = must(check(store_));
  EXPECT_EQ(wrong.size(), 5u);
  const auto says = [&](const char* text) {
    return std::any_of(wrong.begin(), wrong.end(),
                       [&](const auto& line) { return line.find(text) != std::string::npos; });
  };
  for (const char* text :
       {"plan 1", "plan 2 does not match its hash", "finding 1 does not match its hash",
        "finding 1 has 7 occurrences, its campaigns 1", "a row of culprits"})
    EXPECT_TRUE(says(text)) << text;
}

// A store is not sound if a command would refuse it.
TEST_F(Upkeep, CheckReadsAsTheCommandsDo) {
  const auto night = old_night();
  const auto finding = old_finding(1, FindingState::confirmed, night);
  must(store_.mark(finding, {"", LedgerEvent::known, "https://x/1", ""}));
  ASSERT_TRUE(must(check(store_)).empty());
  must(prune(store_, 36500));  // everything is in the file
  const std::string good = bytes_of(dir_ / "s.db");
  const auto wrong_after = [&](const char* statement) {
    write_bytes(dir_ / "damaged.db", good);
    SQLite::Database((dir_ / "damaged.db").string(), SQLite::OPEN_READWRITE).exec(statement);
    std::string all;
    for (const auto& line : must(check(dir_ / "damaged.db"))) all += line + "; ";
    return all;
  };
  EXPECT_EQ(wrong_after("UPDATE findings SET state = state"), "");
  for (const auto& [statement, says] :
       {std::pair{"UPDATE findings SET state = 'bogus'",
                  "finding 1: the store holds state 'bogus'"},
        {"UPDATE findings SET kind = 'bogus'", "finding 1: the store holds kind 'bogus'"},
        {"UPDATE culprits SET access = 'bogus'", "finding 1: the store holds access 'bogus'"},
        {"UPDATE trials SET observation = 'bogus'", "finding 1: "},
        {"UPDATE trials SET call_order = 'bogus'",
         "trial 1 of finding 1: its call order is 'bogus'"},
        {"UPDATE ledger SET event = 'bogus'",
         "the ledger of finding 1: the store holds event 'bogus'"},
        {"UPDATE night_replays SET tonight = 'bogus'", "night 1: the store holds tonight 'bogus'"},
        {"DROP TABLE ledger", "table ledger is missing"},
        {"ALTER TABLE nights DROP COLUMN driver", "table nights has no column 'driver'"},
        {"PRAGMA foreign_keys = OFF; DELETE FROM campaigns",
         "a row of nights refers to a missing row of"}})
    EXPECT_NE(wrong_after(statement).find(says), std::string::npos)
        << statement << ": " << wrong_after(statement);
}

TEST_F(Upkeep, ContentsAreCounted) {
  old_finding(1, FindingState::confirmed);
  old_finding(2, FindingState::flaky);
  must(store_.mark(2, {"", LedgerEvent::known, "https://x/1", ""}));
  const StoreContents c = must(contents(store_));
  EXPECT_GT(c.bytes, 0);
  using Counts = std::vector<std::pair<std::string, std::int64_t>>;
  EXPECT_EQ(c.findings_by_state, (Counts{{"confirmed", 1}, {"flaky", 1}}));
  EXPECT_EQ(c.findings_by_standing, (Counts{{"new", 1}, {"known", 1}}));
  EXPECT_EQ(c.findings_by_target, (Counts{{"sample", 2}}));
  EXPECT_EQ(c.first_seen, "2025-01-31T12:00:00Z");
  EXPECT_NE(
      std::find(c.rows.begin(), c.rows.end(), std::pair<std::string, std::int64_t>{"trials", 2}),
      c.rows.end());
}

}  // namespace
}  // namespace redzone::store
