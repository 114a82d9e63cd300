#include "store/store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "core/campaign_record.h"
#include "store/import.h"
#include "store/night.h"
#include "store/row.h"
#include "store/sample.h"
#include "store/upkeep.h"

namespace redzone::store {
namespace {

using namespace testing;

TEST(Store, AFindingComesBackAsItWas) {
  TempDir dir;
  Finding f = sample_finding();
  {
    Store store = open_rw(dir / "s.db");
    f.campaign = must(store.begin_campaign(sample_campaign()));
    const Recorded r = must(store.record(f));
    EXPECT_TRUE(r.is_new);
    EXPECT_EQ(r.state, FindingState::flaky);
    f.id = r.id;
  }
  for (OpenMode mode : {OpenMode::read_write_create, OpenMode::read_only}) {
    Store store = must(Store::open(dir / "s.db", mode));
    const Finding again = must(store.finding(f.id));
    EXPECT_EQ(again.id, f.id);
    EXPECT_TRUE(equal(again, f));
    EXPECT_TRUE(equal(must(store.findings()).at(0), f));
    EXPECT_TRUE(equal(must(store.find(f.signature)).value(), f));
    EXPECT_FALSE(must(store.find(sample_finding(2).signature)).has_value());
  }
}

TEST(Store, EveryStateAndKindIsKept) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  const auto states = enumerators<FindingState>();
  std::size_t recorded = 0;
  for (const auto kind : enumerators<FailKind>()) {
    Finding f = sample_finding();
    f.signature.kind = kind;
    f.state = states[recorded++ % states.size()];
    f.id = must(store.record(f)).id;
    EXPECT_TRUE(equal(must(store.finding(f.id)), f)) << name_of(f.signature.kind);
  }
  EXPECT_EQ(must(store.findings()).size(), recorded);
}

TEST(Store, TextsMayHoldAnything) {
  using namespace std::string_literals;
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  Finding f = sample_finding();
  f.reason = "nul \0 in 'quotes' \"\n%s; DROP TABLE findings; \xff\xfe"s;
  f.signature.buffer = "x'y";
  f.id = must(store.record(f)).id;
  EXPECT_TRUE(equal(must(store.finding(f.id)), f));
}

TEST(Store, TheSameSignatureIsOneFinding) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  Finding f = sample_finding();
  const Recorded first = must(store.record(f));
  f.last_seen = "2026-01-01T00:00:00Z";
  f.reason = "another sentence";
  const Recorded second = must(store.record(f));
  EXPECT_EQ(second.id, first.id);
  EXPECT_FALSE(second.is_new);
  EXPECT_FALSE(second.replaced);
  const Finding stored = must(store.finding(first.id));
  EXPECT_EQ(stored.occurrences, 2);
  EXPECT_EQ(stored.first_seen, "2025-01-31T12:00:00Z");
  EXPECT_EQ(stored.last_seen, "2026-01-01T00:00:00Z");
  EXPECT_EQ(stored.reason, sample_finding().reason);
  f.last_seen = "2024-01-01T00:00:00Z";
  must(store.record(f));
  EXPECT_EQ(must(store.finding(first.id)).last_seen, "2026-01-01T00:00:00Z");
}

TEST(Store, EmptyTimesBecomeNow) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  Finding f = sample_finding();
  f.first_seen = f.last_seen = "";
  const Finding stored = must(store.finding(must(store.record(f)).id));
  EXPECT_GT(stored.first_seen, "2025");
  EXPECT_EQ(stored.first_seen.size(), 20u);
  EXPECT_GE(stored.last_seen, stored.first_seen);
}

struct Replacement {
  FindingState known_state;
  Plan known;
  FindingState seen_state;
  Plan seen;
  bool replaced;
};

class Replaces : public ::testing::TestWithParam<Replacement> {};

TEST_P(Replaces, OnlyByASmallerPlanThatIsAsSure) {
  const Replacement& p = GetParam();
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  Finding known = sample_finding();
  known.state = p.known_state;
  known.plan = p.known;
  known.id = must(store.record(known)).id;
  Finding seen = known;
  seen.state = p.seen_state;
  seen.plan = p.seen;
  seen.original = p.seen;
  seen.reliability = {2, 2};
  seen.attribution = {};
  seen.plans_to_first = 99;
  const Recorded r = must(store.record(seen));
  EXPECT_EQ(r.replaced, p.replaced);
  Finding want = p.replaced ? seen : known;
  want.plans_to_first = known.plans_to_first;
  want.occurrences = 2;
  EXPECT_EQ(r.state, want.state);
  EXPECT_TRUE(equal(must(store.finding(known.id)), want));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Replaces,
    ::testing::Values(
        Replacement{FindingState::suspect, plan_of(3), FindingState::suspect, plan_of(2), true},
        Replacement{FindingState::suspect, plan_of(3), FindingState::suspect, plan_of(3), false},
        Replacement{FindingState::suspect, plan_of(3), FindingState::suspect, plan_of(4), false},
        Replacement{FindingState::suspect, plan_of(3, 10), FindingState::suspect, plan_of(3, 9),
                    true},
        Replacement{FindingState::suspect, plan_of(9), FindingState::suspect, plan_of(8, 123456),
                    true},
        Replacement{FindingState::confirmed, plan_of(3), FindingState::suspect, plan_of(2), false},
        Replacement{FindingState::confirmed, plan_of(3), FindingState::flaky, plan_of(2), false},
        Replacement{FindingState::flaky, plan_of(3), FindingState::confirmed, plan_of(2), true},
        Replacement{FindingState::unconfirmed, plan_of(3), FindingState::suspect, plan_of(2), true},
        Replacement{FindingState::unconfirmed, plan_of(3), FindingState::suspect, plan_of(4), true},
        Replacement{FindingState::suspect, plan_of(3), FindingState::unconfirmed, plan_of(2),
                    false}));

TEST(Store, UpdateWritesTheJudgementAndLeavesTheOccurrences) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  Finding f = sample_finding();
  f.state = FindingState::suspect;
  const std::int64_t id = must(store.record(f)).id;
  must(store.record(f));

  Finding reduced = f;
  reduced.id = id;
  reduced.state = FindingState::confirmed;
  reduced.plan = plan_of(1);
  reduced.reliability = {20, 20};
  reduced.attribution = {{"history", "alone", {3, 3}}};
  reduced.environment.driver = "other";
  reduced.occurrences = 1000;
  reduced.first_seen = "1970-01-01T00:00:00Z";
  must(store.update(reduced));

  Finding want = reduced;
  want.occurrences = 2;
  want.first_seen = f.first_seen;
  Finding stored = must(store.finding(id));
  want.last_seen = stored.last_seen;
  EXPECT_TRUE(equal(stored, want));
}

TEST(Store, UpdateRefusesAnotherSignatureAndAnUnknownId) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  Finding f = sample_finding(1);
  f.id = must(store.record(f)).id;
  Finding other = sample_finding(2);
  other.id = f.id;
  const auto changed = store.update(other);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind, ErrorKind::harness);
  EXPECT_TRUE(equal(must(store.finding(f.id)), f));
  other.id = 9;
  const auto unknown = store.update(other);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
}

TEST(Store, AnUnknownIdNamesThoseThereAre) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  const std::string file = (dir / "s.db").string();
  auto message = [&](std::int64_t id) {
    const auto finding = store.finding(id);
    EXPECT_FALSE(finding);
    EXPECT_EQ(finding.error().kind, ErrorKind::usage);
    return finding.error().message;
  };
  EXPECT_EQ(message(7), "no finding 7: " + file + " holds no findings yet");
  must(store.record(sample_finding(1)));
  EXPECT_EQ(message(7), "no finding 7: " + file + " holds finding 1");
  must(store.record(sample_finding(2)));
  must(store.record(sample_finding(3)));
  EXPECT_EQ(message(7), "no finding 7: " + file + " holds findings 1 to 3");
  EXPECT_EQ(message(0), "no finding 0: " + file + " holds findings 1 to 3");
  EXPECT_EQ(message(-1), "no finding -1: " + file + " holds findings 1 to 3");
  SQLite::Database(file, SQLite::OPEN_READWRITE).exec("UPDATE findings SET id = 9 WHERE id = 2");
  EXPECT_EQ(message(7), "no finding 7: " + file + " holds findings 1, 3, 9");
  EXPECT_FALSE(store.trials(7));
  EXPECT_FALSE(store.artifacts(7));
}

TEST(Store, CampaignsKeepTheirProgress) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  const CampaignRecord c = sample_campaign();
  const std::int64_t first = must(store.begin_campaign(c));
  const std::int64_t second = must(store.begin_campaign({}));
  CampaignStats stats{1.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, {13, 14}};
  must(store.update_campaign(first, stats));
  std::vector<CampaignRecord> campaigns = must(store.campaigns());
  ASSERT_EQ(campaigns.size(), 2u);
  EXPECT_EQ(campaigns[0].id, first);
  EXPECT_EQ(campaigns[0].seed, c.seed);
  EXPECT_EQ(campaigns[0].device, c.device);
  EXPECT_EQ(campaigns[0].command, c.command);
  EXPECT_EQ(campaigns[0].started, c.started);
  EXPECT_EQ(campaigns[0].ended, "");
  EXPECT_EQ(campaigns[0].stats, stats);
  EXPECT_EQ(campaigns[1].stats, CampaignStats{});
  EXPECT_EQ(campaigns[1].started.size(), 20u);
  stats.plans = 100;
  must(store.end_campaign(second, stats));
  campaigns = must(store.campaigns());
  EXPECT_EQ(campaigns[1].ended.size(), 20u);
  EXPECT_EQ(campaigns[1].stats, stats);
  EXPECT_EQ(campaigns[0].ended, "");
  EXPECT_EQ(store.end_campaign(3, stats).error().kind, ErrorKind::usage);
}

TEST(Store, ACampaignIsFoundByItsNumberAndStaysAsItIs) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  const std::int64_t first = must(store.begin_campaign(sample_campaign()));
  const std::int64_t second = must(store.begin_campaign({}));
  const CampaignRecord found = must(store.campaign(first));
  EXPECT_EQ(found.id, first);
  EXPECT_EQ(found.uid, must(store.campaigns()).at(0).uid);
  EXPECT_EQ(found.command, sample_campaign().command);
  EXPECT_EQ(store.campaign(3).error().kind, ErrorKind::usage);
  // Findings seen from here on still count for the campaign that began last.
  must(store.record(sample_finding()));
  EXPECT_TRUE(must(NightBook(store).occurrences(first)).empty());
  EXPECT_EQ(must(NightBook(store).occurrences(second)).size(), 1u);
}

TEST(Store, AFindingOfNoSuchCampaignIsRefusedWhole) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  Finding f = sample_finding();
  f.campaign = 12;
  const auto r = store.record(f);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().kind, ErrorKind::harness);
  EXPECT_TRUE(must(store.findings()).empty());
}

// The output of a worker has no bound, but the store must stay readable.
TEST(Store, LongTextsAreCutAndLongNamesRefused) {
  const TempDir dir;
  Store store = open_rw(dir / "long.db");
  Finding f = sample_finding();
  f.reason = "x";
  for (int i = 0; i < 800'000; ++i) f.reason += "\xc3\xa9";
  const auto id = must(store.record(f)).id;
  const std::string kept = must(store.finding(id)).reason;
  EXPECT_LE(kept.size(), std::size_t{1} << 20);
  EXPECT_TRUE(kept.ends_with("\xc3\xa9 ... (1600001 bytes in all)"))
      << kept.substr(kept.size() - 40);
  f.signature.where = f.reason;
  const auto refused = store.record(f);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::harness);
  EXPECT_EQ(must(store::check(store)), std::vector<std::string>{});
}

TEST(RecordAll, StoresAllOrNothing) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  std::vector<Finding> findings{sample_finding(1), sample_finding(2)};
  findings[1].signature.where = std::string(kMostTextBytes + 1, 'x');
  EXPECT_FALSE(record_all(store, findings));
  EXPECT_TRUE(must(store.findings()).empty());
  findings[1] = sample_finding(2);
  EXPECT_EQ(must(record_all(store, findings)).size(), 2u);
  EXPECT_EQ(must(store.findings()).size(), 2u);
}

}  // namespace
}  // namespace redzone::store
