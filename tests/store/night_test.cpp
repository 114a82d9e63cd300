// The nights of a store.
#include "store/night.h"

#include <gtest/gtest.h>

#include "core/campaign_record.h"
#include "store/sample.h"

namespace redzone::store {
namespace {

using namespace testing;

NightRun sample_run(std::int64_t campaign) {
  NightRun run;
  run.campaign = campaign;
  run.began = "2025-01-31T02:00:00.000001Z";
  run.base_seed = 0xfedcba9876543210u;
  run.shard = 2;
  run.shards = 3;
  run.commit = "66ef1f9";
  run.tool_version = "0.1.0";
  run.driver = "580.1";
  run.toolkit = "nvcc 13.0";
  run.host = "Linux";
  run.budget_seconds = 3600;
  run.proof_seconds = 0.5;
  run.replay_seconds = 60;
  run.fuzz_seconds = 1800;
  run.planted_bugs_caught = 6;
  run.resumed = 1;
  run.problem = "the device was lost";
  run.asked_targets = "sample scan";
  run.asked_corpus = "below/a.toml b.toml";
  return run;
}

TEST(NightBook, KeepsARunWithItsReplaysAndTargets) {
  TempDir dir;
  NightRun run;
  NightReplay known, plan;
  CampaignStats stats;
  NightTarget target{
      {1, 2, 3, 4, 5, 6, 7, 1.5, {8, 9}, "too large", {3, 4}, "why not", "a mistake"},
      "sample",
      0.25,
      "why"};
  {
    Store store = open_rw(dir / "s.db");
    NightBook book(store);
    run = sample_run(must(store.begin_campaign(sample_campaign())));
    must(book.begin(run));
    const auto finding = must(store.record(sample_finding())).id;
    known = {sample_finding().signature.hash(),
             finding,
             "sample",
             "",
             ReplayOutcome::flaky,
             {2, 5},
             "sometimes",
             0.5};
    plan = {"z.toml", {},       "other", "hang: scan (other)", ReplayOutcome::not_applicable,
            {},       "no GPU", 0};
    must(book.replayed(run.campaign, known));
    known.failed = {3, 5};
    must(book.replayed(run.campaign, known));
    must(book.replayed(run.campaign, plan));
    must(book.target(run.campaign, target));
    target.plans = 99;
    must(book.target(run.campaign, target));
    run.fuzz_seconds = 1800.5;
    must(book.update(run));
    target.plans = stats.plans = 100;
    target.reference = stats.reference = {80, 90, 7};
    run.fuzz_seconds = 1801;
    must(book.keep(run, stats, {target}));
    EXPECT_EQ(must(store.campaigns()).at(0).stats, stats);
    EXPECT_EQ(must(book.runs()).at(0).exit_code, NightRun::kUnfinished);
    run.exit_code = 1;
    must(book.update(run));
    must(store.sighted(finding, 9));
  }
  Store store = open_ro(dir / "s.db");
  NightBook book(store);
  EXPECT_EQ(must(book.runs()), std::vector{run});
  EXPECT_EQ(must(book.replays(run.campaign)), (std::vector{known, plan}));
  EXPECT_EQ(must(book.targets(run.campaign)), std::vector{target});
  EXPECT_EQ(must(book.occurrences(run.campaign)).at(0).second, 10);
  EXPECT_TRUE(must(book.replays(99)).empty());
}

TEST(NightBook, AddsUpTheRunsThatPassedSinceAFailure) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  NightBook book(store);
  const auto id = must(store.record(sample_finding())).id;
  const auto night = [&](const std::string& device, Reliability failed,
                         ReplayOutcome outcome = ReplayOutcome::unclear) {
    CampaignRecord campaign = sample_campaign();
    campaign.device = device;
    NightRun run = sample_run(must(store.begin_campaign(campaign)));
    run.began = must(store.moment());
    must(book.begin(run));
    must(book.replayed(run.campaign, {"x", id, "sample", "", outcome, failed, "", 0}));
    return run.began;
  };
  night("h100", {0, 7});
  const std::string failed = night("h100", {1, 64});
  EXPECT_EQ(must(book.passed_runs(id, "h100", failed)), 0);
  night("h100", {0, 60});
  night("host", {0, 1000});
  night("h100", {0, 50});
  night("h100", {0, 40}, ReplayOutcome::otherwise);  // it failed, although in another way
  EXPECT_EQ(must(book.passed_runs(id, "h100", failed)), 110);
  EXPECT_EQ(must(book.passed_runs(id, "h100", "")), 117) << "never where it failed";
  EXPECT_EQ(must(book.passed_runs(id + 1, "h100", "")), 0);
}

TEST(NightBook, AFindingThatIsMergedAwayTakesItsReplaysAlong) {
  TempDir dir;
  Store store = open_rw(dir / "s.db");
  NightBook book(store);
  must(book.begin(sample_run(must(store.begin_campaign(sample_campaign())))));
  const auto first = must(store.record(sample_finding(1))).id;
  Finding f = sample_finding(2);
  f.id = must(store.record(f)).id;
  must(book.replayed(
      1, {f.signature.hash(), f.id, "sample", "", ReplayOutcome::fails, {5, 5}, "", 0}));
  f.signature = sample_finding(1).signature;
  must(store.settle(f));
  EXPECT_EQ(must(book.replays(1)).at(0).finding, first);
}

}  // namespace
}  // namespace redzone::store
