// How the store evaluates the ledger of a finding.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "core/utc.h"
#include "store/database.h"
#include "store/sample.h"
#include "store/store.h"
#include "store/upkeep.h"

namespace redzone::store {
namespace {

using namespace testing;

constexpr const char* kLink = "https://example.com/issues/7";

class Standings : public ::testing::Test {
 protected:
  // A campaign in which triage ends with `f` in this state.
  Recorded seen(Finding f, FindingState state = FindingState::confirmed) {
    must(store_.begin_campaign(sample_campaign()));
    f.state = FindingState::suspect;
    f.id = must(store_.record(f)).id;
    f.state = state;
    return must(store_.settle(f));
  }
  Standing standing(std::int64_t id) { return must(store_.finding(id)).ledger.standing; }

  TempDir dir_;
  Store store_ = open_rw(dir_ / "s.db");
};

TEST_F(Standings, ANewFindingIsNewOnceAndStaysUnmarked) {
  EXPECT_TRUE(seen(sample_finding()).is_new);
  EXPECT_FALSE(seen(sample_finding()).is_new);
  EXPECT_EQ(standing(1), Standing::fresh);
  EXPECT_EQ(must(store_.entries(1)).size(), 2u) << "one for each campaign";
}

TEST_F(Standings, ASuspectHasNoEntry) {
  must(store_.record(sample_finding()));
  EXPECT_TRUE(seen(sample_finding(2), FindingState::unconfirmed).is_new);
  EXPECT_TRUE(must(store_.entries(1)).empty());
  EXPECT_TRUE(must(store_.entries(2)).empty());
}

TEST_F(Standings, WhatIsKnownIsNotNewAlsoWhereItWasNeverConfirmed) {
  Finding f = sample_finding();
  f.state = FindingState::suspect;
  const auto id = must(store_.record(f)).id;
  const Ledger ledger = must(store_.mark(id, {"", LedgerEvent::known, kLink, "rounding"}));
  EXPECT_EQ(ledger.standing, Standing::known);
  EXPECT_EQ(ledger.link, kLink);
  EXPECT_EQ(ledger.note, "rounding");
  EXPECT_FALSE(ledger.since.empty());
  EXPECT_FALSE(seen(f).is_new);
  EXPECT_EQ(standing(id), Standing::known);
}

TEST_F(Standings, WhatWasFixedAndFailsAgainIsNewAndRegressed) {
  const auto id = seen(sample_finding()).id;
  EXPECT_EQ(must(store_.enter(id, {"", LedgerEvent::passed, "", ""})).standing, Standing::fixed);
  EXPECT_FALSE(seen(sample_finding(), FindingState::unconfirmed).is_new);
  EXPECT_EQ(standing(id), Standing::fixed) << "a suspect that does not recur says nothing";
  EXPECT_TRUE(seen(sample_finding()).is_new);
  EXPECT_EQ(standing(id), Standing::regressed);
  EXPECT_FALSE(seen(sample_finding()).is_new);
}

TEST_F(Standings, AnOlderCampaignsFailureIsNotTakenForALaterOne) {
  const auto id = seen(sample_finding()).id;
  Finding again = must(store_.finding(id));
  must(store_.settle(again));
  EXPECT_EQ(must(store_.entries(id)).size(), 1u);
  must(store_.enter(id, {"", LedgerEvent::passed, "", ""}));
  EXPECT_TRUE(must(store_.settle(again)).is_new) << "in the same campaign, after it passed";
  EXPECT_EQ(standing(id), Standing::regressed);
}

// From a machine whose clock is ahead, or from this one before its clock was set back.
constexpr const char* kFuture = "2999-12-31T23:59:59.999999Z";

TEST_F(Standings, WhatFailsAfterItPassedIsRegressedWhateverTheClocksSay) {
  const auto id = seen(sample_finding()).id;
  must(store_.enter(id, {kFuture, LedgerEvent::passed, "", ""}));
  EXPECT_TRUE(seen(sample_finding()).is_new);
  EXPECT_EQ(standing(id), Standing::regressed);
  EXPECT_FALSE(seen(sample_finding()).is_new) << "and it is entered once a campaign";
  EXPECT_EQ(must(store_.mark(id, {"", LedgerEvent::known, kLink, ""})).standing, Standing::known);
}

TEST_F(Standings, ACampaignEndsAfterAllThatItEntered) {
  must(store_.enter(seen(sample_finding()).id, {kFuture, LedgerEvent::passed, "", ""}));
  const auto campaign = must(store_.begin_campaign(sample_campaign()));
  const std::string began = must(store_.moment());
  EXPECT_GT(began, kFuture);
  Finding f = sample_finding();
  f.id = must(store_.record(f)).id;
  f.state = FindingState::confirmed;
  must(store_.settle(f));
  must(store_.end_campaign(campaign, {}));
  const std::string entered = must(store_.entries(f.id)).back().at;
  EXPECT_GT(entered, kFuture);
  EXPECT_LE(entered, must(store_.campaigns()).back().ended);
}

TEST(JustAfter, IsTheNextTimeThatSortsBehind) {
  EXPECT_EQ(just_after("2025-01-31T12:34:56.000009Z"), "2025-01-31T12:34:56.000010Z");
  EXPECT_EQ(just_after("2025-12-31T23:59:59.999999Z"), "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(just_after("2024-02-28T23:59:59Z"), "2024-02-29T00:00:00.000000Z");
  for (const char* none : {"", "now", "2025-01-31T12:34:56", "2025-01-31T12:34:56.12Z",
                           "2025-01-31T12:34:56.00000xZ", "2025-01-31 12:34:56Z"})
    EXPECT_EQ(just_after(none), "") << none;
  EXPECT_GT(just_after(utc_now_us()), utc_now_us().substr(0, 19));
}

TEST(UtcTime, IsOneThatSortsByTime) {
  for (const char* time : {"2025-01-31T12:34:56Z", "2025-01-31T12:34:56.000009Z",
                           "0000-01-01T00:00:00Z", "8999-12-31T23:59:59.999999Z"})
    EXPECT_TRUE(is_utc_time(time)) << time;
  for (const char* time :
       {"", "now", "2025-01-31", "9000-01-01T00:00:00Z", "2025-13-31T12:34:56Z",
        "9999-12-31T23:59:59.999999Z", "2025-01-31T12:34:56", "-001-01-31T12:34:56Z",
        "2025-01-31T12:34:56.-00001Z", " 025-01-31T12:34:56Z"})
    EXPECT_FALSE(is_utc_time(time)) << time;
}

// Later texts would sort before it, so that no mark had an effect.
TEST_F(Standings, AnEntryOfNoValidTimeIsRefused) {
  const auto id = seen(sample_finding()).id;
  const LedgerEntry last{"9999-12-31T23:59:59.999999Z", LedgerEvent::known, kLink, ""};
  EXPECT_EQ(store_.enter(id, last).error().kind, ErrorKind::harness);
  EXPECT_EQ(must(store_.entries(id)).size(), 1u);
  {
    auto& sql = store_.database().sql();
    sql.exec("UPDATE ledger SET at = '9999-12-31T23:59:59.999999Z'");
  }
  EXPECT_EQ(store_.mark(id, {"", LedgerEvent::quarantined, "", "hangs"}).error().kind,
            ErrorKind::unsound);
  EXPECT_FALSE(must(check(store_)).empty());
}

TEST_F(Standings, AMarkThatIsNotAllowedChangesNothing) {
  const auto id = seen(sample_finding()).id;
  const auto refused = store_.mark(id, {"", LedgerEvent::known, "", "we know"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_NE(refused.error().message.find("finding 1: a waiver needs a link"), std::string::npos);
  EXPECT_EQ(must(store_.entries(id)).size(), 1u);
  const auto unknown = store_.mark(99, {"", LedgerEvent::known, kLink, ""});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
}

TEST_F(Standings, ItIsKeptWhenTheFindingChangesAndWhenTheFileIsReadAgain) {
  Finding f = sample_finding();
  f.id = seen(f).id;
  must(store_.mark(f.id, {"", LedgerEvent::quarantined, "", "wedges the machine"}));
  f.reason = "another";
  must(store_.update(f));
  EXPECT_EQ(standing(f.id), Standing::quarantined);
  Store again = open_ro(dir_ / "s.db");
  EXPECT_EQ(must(again.finding(f.id)).ledger, must(again.findings()).at(0).ledger);
  EXPECT_EQ(must(again.finding(f.id)).ledger.note, "wedges the machine");
  EXPECT_EQ(must(again.find(f.signature))->ledger.standing, Standing::quarantined);
}

TEST_F(Standings, AFindingThatBecomesAnotherBringsItsLedger) {
  const auto known = seen(sample_finding(1)).id;
  must(store_.begin_campaign(sample_campaign()));
  Finding f = sample_finding(2);
  f.id = must(store_.record(f)).id;
  must(store_.mark(f.id, {"", LedgerEvent::known, kLink, ""}));
  f.signature = sample_finding(1).signature;
  EXPECT_EQ(must(store_.settle(f)).id, known);
  EXPECT_EQ(standing(known), Standing::known);
  EXPECT_EQ(must(store_.finding(known)).occurrences, 2);
  EXPECT_EQ(must(store_.findings()).size(), 1u);
}

TEST_F(Standings, OccurrencesAreCountedByCampaign) {
  const auto id = seen(sample_finding()).id;
  must(store_.sighted(id, 10));
  must(store_.resume_campaign(1));
  must(store_.sighted(id, 5));
  EXPECT_EQ(must(store_.finding(id)).occurrences, 16);
  must(store_.sighted(99, 5));  // merged into another finding meanwhile
  EXPECT_FALSE(store_.resume_campaign(99));
}

}  // namespace
}  // namespace redzone::store
