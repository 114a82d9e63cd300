// Which runs belong to one night, and until when it lasts.
#include "nightly/parts.h"
#include "core/campaign_record.h"

#include <gtest/gtest.h>

namespace redzone::nightly {
namespace {

struct Runs {
  std::vector<store::NightRun> runs = {};
  std::vector<CampaignRecord> campaigns = {};

  void add(std::int64_t id, std::uint64_t seed, int shard, int shards, const std::string& began,
           const std::string& ended) {
    store::NightRun& run = runs.emplace_back();
    run.campaign = id;
    run.base_seed = seed;
    run.shard = shard;
    run.shards = shards;
    run.began = began;
    CampaignRecord& campaign = campaigns.emplace_back();
    campaign.id = id;
    campaign.ended = ended;
  }
  std::vector<NightParts> nights() const { return nights_of(runs, campaigns); }
};

TEST(NightParts, ShardsOfOneSeedAndTimeAreOneNight) {
  Runs r;
  r.add(1, 7, 2, 3, "2025-01-31T02:00:00.000000Z", "2025-01-31T03:00:00Z");
  r.add(2, 7, 1, 3, "2025-01-31T02:00:01.000000Z", "2025-01-31T03:00:05Z");
  r.add(3, 8, 3, 3, "2025-01-31T02:00:02.000000Z", "2025-01-31T03:00:06Z");  // another seed
  r.add(4, 7, 1, 2, "2025-01-31T02:00:03.000000Z", "2025-01-31T03:00:07Z");  // other shards
  r.add(5, 7, 3, 3, "2025-01-31T03:30:00.000000Z", "2025-01-31T04:00:00Z");  // after the others
  const auto nights = r.nights();
  ASSERT_EQ(nights.size(), 3u);
  EXPECT_EQ(nights[0].campaign(), 3);
  EXPECT_EQ(nights[1].campaign(), 4);
  const NightParts& whole = nights[2];
  ASSERT_EQ(whole.runs.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(whole.runs[static_cast<std::size_t>(i)].shard, i + 1);
  EXPECT_EQ(whole.campaign(), 1);
  EXPECT_TRUE(whole.holds(5));
  EXPECT_FALSE(whole.holds(3));
  EXPECT_EQ(whole.began, "2025-01-31T02:00:00.000000Z");
  EXPECT_EQ(whole.ended, "2025-01-31T04:00:00Z");
  EXPECT_EQ(whole.until, whole.ended);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(whole.owns("key " + std::to_string(i)));
}

TEST(NightParts, TheSameSeedEveryNightMakesNightsOfTheirOwn) {
  Runs r;
  r.add(1, 7, 1, 2, "2025-01-30T02:00:00.000000Z", "2025-01-30T03:00:00Z");
  r.add(2, 7, 2, 2, "2025-01-31T01:59:00.000000Z", "2025-01-31T03:00:00Z");  // 2/2 missed a night
  r.add(3, 7, 1, 2, "2025-01-31T02:00:00.000000Z", "2025-01-31T03:00:00Z");
  r.add(4, 7, 1, 2, "2025-01-31T05:00:00.000000Z", "2025-01-31T06:00:00Z");  // again by hand
  const auto nights = r.nights();
  ASSERT_EQ(nights.size(), 3u);
  EXPECT_EQ(nights[0].runs.size(), 1u);
  EXPECT_EQ(nights[1].runs.size(), 2u);
  EXPECT_EQ(nights[2].campaign(), 4);
}

TEST(NightParts, TheShardsOfAFleetAreOneNightWheneverTheyBegan) {
  Runs r;
  r.add(1, 7, 1, 3, "2025-01-30T02:00:00.000000Z", "2025-01-30T10:00:00Z");
  r.add(2, 7, 2, 3, "2025-01-31T03:00:00.000000Z", "");
  r.add(3, 7, 2, 3, "2025-01-31T12:00:00.000000Z", "2025-01-31T20:00:00Z");  // without a snapshot
  r.add(4, 7, 3, 3, "2025-02-02T03:00:00.000000Z", "2025-02-02T11:00:00Z");
  r.add(5, 7, 1, 3, "2025-02-02T04:00:00.000000Z", "2025-02-02T05:00:00Z");  // of another fleet
  for (auto& run : r.runs) run.fleet = run.campaign == 5 ? "f2" : "f1";
  const auto nights = r.nights();
  ASSERT_EQ(nights.size(), 2u);
  const auto& whole = nights[0].holds(1) ? nights[0] : nights[1];
  EXPECT_EQ(whole.runs.size(), 4u);
  EXPECT_FALSE(whole.holds(5));
}

TEST(NightParts, AShardIsOpenUntilOneOfItsRunsHasFinished) {
  Runs r;
  const auto open = [&r] {
    std::vector<std::pair<int, bool>> out;
    for (const auto& o : r.nights().back().open_shards()) out.emplace_back(o.shard, o.has_begun);
    return out;
  };
  r.add(1, 7, 2, 3, "2025-01-30T02:00:00.000000Z", "2025-01-30T10:00:00Z");
  using Open = std::vector<std::pair<int, bool>>;
  EXPECT_EQ(open(), (Open{{2, true}}));
  r.runs[0].exit_code = 0;
  EXPECT_EQ(open(), Open{}) << "alone it is one runner's part of a night";
  r.runs[0].fleet = "f1";
  EXPECT_EQ(open(), (Open{{1, false}, {3, false}})) << "of a fleet all shards are expected";
  r.add(2, 7, 3, 3, "2025-01-30T02:00:00.000000Z", "");
  r.add(3, 7, 3, 3, "2025-01-30T03:00:00.000000Z", "2025-01-30T11:00:00Z");
  for (auto& run : r.runs) run.fleet = "f1";
  EXPECT_EQ(open(), (Open{{1, false}, {3, true}}));
  r.runs[2].exit_code = 0;
  EXPECT_EQ(open(), (Open{{1, false}})) << "what it was before it began again does not matter";
}

TEST(NightParts, WithoutShardsEachRunIsANight) {
  Runs r;
  r.add(1, 7, 1, 1, "2025-01-31T02:00:00.000000Z", "2025-01-31T03:00:00Z");
  r.add(2, 7, 1, 1, "2025-01-31T04:00:00.000000Z", "2025-01-31T05:00:00Z");
  EXPECT_EQ(r.nights().size(), 2u);
}

TEST(NightParts, TheLatestIsTheOneThatEndedLast) {
  Runs r;
  r.add(1, 1, 1, 1, "2025-01-30T02:00:00.000000Z", "2025-01-30T09:00:00Z");  // it was resumed
  r.add(2, 2, 1, 1, "2025-01-30T04:00:00.000000Z", "2025-01-30T05:00:00Z");
  EXPECT_EQ(r.nights().back().campaign(), 1);
  r.add(3, 3, 1, 1, "2025-01-31T02:00:00.000000Z", "");  // it is running
  EXPECT_EQ(r.nights().back().campaign(), 3);
  EXPECT_EQ(r.nights().back().until, "");
}

TEST(NightParts, TheOneThatRunsHereIsAloneAndTheLatest) {
  Runs r;
  r.add(1, 7, 1, 2, "2025-01-30T02:00:00.000000Z", "");  // resumed
  r.add(2, 7, 2, 2, "2025-01-30T03:00:00.000000Z", "2025-01-30T04:00:00Z");
  r.add(3, 8, 1, 1, "2025-01-30T05:00:00.000000Z", "2025-01-30T06:00:00Z");
  const auto nights = nights_of(r.runs, r.campaigns, 1);
  ASSERT_EQ(nights.size(), 3u);
  EXPECT_EQ(nights.back().campaign(), 1);
  EXPECT_EQ(nights.back().runs.size(), 1u);
  EXPECT_EQ(nights.back().until, "");
  EXPECT_EQ(nights_of(r.runs, r.campaigns).size(), 2u);
}

TEST(NightParts, ANightLastsUntilTheNextAtMost) {
  Runs r;
  r.add(1, 1, 1, 1, "2025-01-30T02:00:00.000000Z", "");  // cut off
  r.add(2, 2, 1, 1, "2025-01-30T04:00:00.000000Z", "2025-01-30T05:00:00Z");
  r.add(3, 3, 1, 1, "2025-01-30T05:00:00.700000Z", "2025-01-30T06:00:00Z");  // the same second
  r.add(4, 4, 1, 1, "2025-01-30T07:00:00.000000Z", "2025-01-30T08:00:00Z");
  const auto nights = r.nights();
  EXPECT_EQ(nights[0].until, "2025-01-30T04:00:00.000000Z");
  EXPECT_EQ(nights[0].ended, "");
  EXPECT_EQ(nights[1].until, "2025-01-30T05:00:00.700000Z");
  EXPECT_EQ(nights[2].until, "2025-01-30T06:00:00Z");
  const auto covered = [&](const char* at, LedgerEvent event) {
    return nights[2].covers({at, event, "", ""});
  };
  EXPECT_TRUE(covered("2025-01-30T06:00:00.900000Z", LedgerEvent::failed));
  EXPECT_FALSE(covered("2025-01-30T06:00:01.000000Z", LedgerEvent::failed));
  EXPECT_FALSE(covered("2025-01-30T06:00:00.900000Z", LedgerEvent::known)) << "said of it";
  EXPECT_TRUE(covered("2025-01-30T05:59:59.900000Z", LedgerEvent::known));
  EXPECT_TRUE(nights[1].covers({"2025-01-30T04:00:00.000000Z", LedgerEvent::known, "", ""}));
  r.add(5, 5, 1, 1, "2025-01-30T09:00:00.500000Z", "2025-01-30T09:00:00Z");  // within a second
  const NightParts brief = r.nights().back();
  EXPECT_TRUE(brief.covers({"2025-01-30T09:00:00.400000Z", LedgerEvent::known, "", ""}));
  EXPECT_FALSE(brief.covers({"2025-01-30T09:00:00.600000Z", LedgerEvent::known, "", ""}));
}

// Nights may take less than a second, which is the resolution of the times of findings.
TEST(NightParts, AFindingOfAnEarlierCampaignIsThereInALaterNightOfTheSameSecond) {
  Runs r;
  for (std::int64_t id = 1; id <= 3; ++id)
    r.add(id, static_cast<std::uint64_t>(id), 1, 1,
          "2025-01-31T02:00:00." + std::to_string(id) + "00000Z", "2025-01-31T02:00:00Z");
  const auto nights = r.nights();
  ASSERT_EQ(nights.size(), 3u);
  Finding finding;
  finding.campaign = 2;
  finding.first_seen = "2025-01-31T02:00:00Z";
  EXPECT_TRUE(nights[0].ended_before(finding));
  EXPECT_FALSE(nights[1].ended_before(finding));
  EXPECT_FALSE(nights[2].ended_before(finding));
  finding.first_seen = "2025-01-31T02:00:01Z";
  finding.campaign = 9;
  EXPECT_TRUE(nights[0].ended_before(finding));
}

}  // namespace
}  // namespace redzone::nightly
