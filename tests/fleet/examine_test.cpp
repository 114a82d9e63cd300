// The examination of a fleet's findings by model of GPU, over a program that stands in for
// `redzone reduce` and `bisect`, and what the runs on several devices say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/exit_code.h"
#include "fleet/compare.h"
#include "fleet/describe.h"
#include "fleet/examine_job.h"
#include "fleet/hub_job.h"
#include "fleet/shared_folder.h"
#include "store/night.h"
#include "store/publish.h"
#include "store/sample.h"
#include "tests/fleet/sample_fleet.h"

namespace redzone::fleet {
namespace {

using namespace store::testing;

constexpr const char* kHere = "NVIDIA H100";  // where sample_finding() was seen

class Comparisons : public ::testing::Test {
 protected:
  Comparisons() : store_(open_rw(dir_ / "s.db")) {}

  // A finding that failed 7 of 10 times on kHere.
  std::int64_t found(int n) { return must(store_.record(sample_finding(n))).id; }
  void ran(std::int64_t finding, const char* device, std::int64_t failed, std::int64_t passed) {
    const Plan plan = must(store_.finding(finding)).plan;
    must(store_.add_probe({finding, device, "c0de"}, plan,
                          {.plan_hash = plan_hash(plan), .same = failed, .passed = passed}));
  }
  std::vector<std::string> said(const report::FleetComparison& comparison) {
    std::vector<std::string> out;
    for (const auto& d : comparison.devices)
      out.push_back(fmt::format("{} {}/{} {}", d.device, d.failed, d.runs, d.says));
    return out;
  }

  TempDir dir_;
  store::Store store_;
};

TEST_F(Comparisons, APlanThatPassesOnAnotherModelDiffers) {
  const auto same = found(1), other = found(2), few = found(3);
  ran(same, "NVIDIA A100", 6, 4);
  ran(other, "NVIDIA A100", 0, 30);
  ran(other, kHere, 3, 1);
  ran(few, "NVIDIA A100", 0, 1);
  const auto all = must(compare_devices(store_));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].finding, other) << "what differs comes first";
  EXPECT_TRUE(all[0].differs);
  EXPECT_EQ(all[0].found_on, kHere);
  EXPECT_EQ(said(all[0]),
            (std::vector<std::string>{"NVIDIA A100 0/30 passes", "NVIDIA H100 10/14 fails"}));
  EXPECT_FALSE(all[1].differs);
  EXPECT_EQ(said(all[1]).front(), "NVIDIA A100 6/10 fails");
  EXPECT_FALSE(all[2].differs);
  EXPECT_EQ(said(all[2]).front(), "NVIDIA A100 0/1 undecided");
}

TEST_F(Comparisons, RunsOfOtherPlansAndOfOneDeviceAreNone) {
  const auto one = found(1);
  Plan other = must(store_.finding(one)).plan;
  other.mode.placement = Placement::guard_before;
  must(store_.add_probe({one, "NVIDIA A100", "c0de"}, other,
                        {.plan_hash = plan_hash(other), .passed = 50}));
  ran(one, kHere, 5, 0);
  EXPECT_TRUE(must(compare_devices(store_)).empty());
}

TEST_F(Comparisons, WhereNoDeviceShowsItNoneDiffers) {
  Finding lost = sample_finding(1);
  lost.reliability = {0, 10};
  const auto id = must(store_.record(lost)).id;
  ran(id, "NVIDIA A100", 0, 50);
  const auto all = must(compare_devices(store_));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_FALSE(all[0].differs);
}

constexpr const char* kCommand = R"(#!/bin/sh
echo "$@" | sed 's/--db [^ ]*/--db DB/' >>{0}/words
[ ! -e {0}/stops ] || touch {0}/stopped
)";

class Examinations : public ::testing::Test {
 protected:
  Examinations() {
    must(create_folder(layout_, fleet_));
    testing::write_script(dir_, "redzone", kCommand);
  }

  // The shard's night, which found this.
  void shard_found(int shard, Finding finding) {
    const Attempt attempt = must(claim_attempt(layout_, shard, {.host = "n1"}));
    store::Store store = open_rw(dir_ / (text_of(attempt) + ".db").c_str());
    CampaignRecord campaign = sample_campaign();
    campaign.device = device_;
    store::NightRun run;
    run.campaign = must(store.begin_campaign(campaign));
    run.base_seed = fleet_.seed;
    run.shard = shard;
    run.shards = fleet_.shards;
    run.fleet = fleet_.uid;
    must(store::NightBook(store).begin(run));
    finding.campaign = run.campaign;
    must(store.record(finding));
    must(publish_snapshot(layout_, {attempt, 1}, store));
  }
  Result<int> examine(int model) {
    return run_examination(
        {.layout = layout_,
         .uid = fleet_.uid,
         .model = model,
         .local = dir_ / "local",
         .redzone = (dir_ / "redzone").string(),
         .host = "n1",
         .job = "7",
         .interrupted = [this] { return std::filesystem::exists(dir_ / "stopped"); }});
  }

  std::string device_ = kHere;
  TempDir dir_;
  Layout layout_{dir_ / "run"};
  Fleet fleet_ = [] {
    Fleet fleet = testing::sample_fleet(2);
    fleet.seed = 7;
    fleet.reruns = {"--plugin", "p.so"};
    fleet.models = {{"h100", 1}, {"a100", 1}};
    return fleet;
  }();
};

TEST_F(Examinations, AFindingIsReducedAndBisectedWhereItWasFoundAndRunElsewhere) {
  Finding whole = sample_finding(1);
  whole.minimal = false;
  whole.reduction = {ReductionEnd::time, 84, 160, 0.6};
  shard_found(1, whole);
  shard_found(2, sample_finding(2));
  EXPECT_EQ(must(examine(1)), kOk);
  EXPECT_EQ(bytes_of(dir_ / "words"),
            "reduce 1 --time 2m --db DB --plugin p.so\nbisect 1 --time 2m --db DB --plugin p.so\n"
            "bisect 2 --time 20s --db DB --plugin p.so\n");
  std::filesystem::remove(dir_ / "words");
  EXPECT_EQ(must(examine(2)), kOk);
  EXPECT_EQ(
      bytes_of(dir_ / "words"),
      "bisect 2 --time 2m --db DB --plugin p.so\nbisect 1 --time 20s --db DB --plugin p.so\n");
  // Its store is published as that of an attempt of its own, which the report's hub merges.
  const Attempt first{examiner_of(fleet_, 1), 1};
  const auto status = must(read_attempts(layout_, fleet_.uid)).at(first);
  EXPECT_EQ(status.exit_code, kOk);
  store::Store published = open_ro(layout_.snapshot({first, status.snapshot}));
  EXPECT_EQ(must(published.findings()).size(), 2U);
  const auto described = must(describe_fleet(layout_, fleet_, nullptr));
  ASSERT_EQ(described.models.size(), 2U);
  EXPECT_EQ(described.models[0].state, "ended");
  EXPECT_EQ(described.models[1].name, "a100");
}

// Findings have the numbers in which the snapshots are merged: shard by shard.
TEST_F(Examinations, WhatOnlyItCanDoComesFirstAndWhatTheFleetDidNotMeetIsLeftOut) {
  store::Store known = open_rw(dir_ / "known.db");
  for (int i = 1; i <= 3; ++i) must(known.record(sample_finding(i)));
  must(store::publish(known, layout_.known()));
  shard_found(1, sample_finding(3));
  Finding whole = sample_finding(5);
  whole.minimal = false;
  whole.reduction = {ReductionEnd::time, 84, 160, 0.6};
  shard_found(1, whole);
  shard_found(2, whole);  // seen by both models: the first one reduces it
  shard_found(2, sample_finding(4));
  EXPECT_EQ(must(examine(1)), kOk);
  EXPECT_EQ(
      bytes_of(dir_ / "words"),
      "reduce 4 --time 2m --db DB --plugin p.so\nbisect 4 --time 2m --db DB --plugin p.so\n"
      "bisect 3 --time 2m --db DB --plugin p.so\nbisect 5 --time 20s --db DB --plugin p.so\n");
  std::filesystem::remove(dir_ / "words");
  EXPECT_EQ(must(examine(2)), kOk);
  EXPECT_EQ(bytes_of(dir_ / "words"),
            "bisect 4 --time 2m --db DB --plugin p.so\nbisect 5 --time 2m --db DB --plugin p.so\n"
            "bisect 3 --time 20s --db DB --plugin p.so\n");
}

TEST_F(Examinations, AFindingCountsOnEachDeviceThatMetIt) {
  device_ = "NVIDIA H100";
  shard_found(1, sample_finding(1));
  device_ = "NVIDIA A100";
  shard_found(2, sample_finding(1));
  shard_found(2, sample_finding(2));
  must(run_hub({.layout = layout_,
                .local = dir_ / "local",
                .host = "n2",
                .interrupted = [] { return false; },
                .finish = true}));
  store::Store hub = open_ro(layout_.hub_store());
  const auto fleet = must(describe_fleet(layout_, fleet_, &hub));
  EXPECT_EQ(fleet.findings.at("NVIDIA H100").at("flaky"), 1);
  EXPECT_EQ(fleet.findings.at("NVIDIA A100").at("flaky"), 2);
}

TEST_F(Examinations, WhoIsInterruptedPublishesAndGoesOnLater) {
  shard_found(1, sample_finding(1));
  shard_found(2, sample_finding(2));
  write_bytes(dir_ / "stops", "");
  EXPECT_EQ(must(examine(1)), kInterrupted);
  EXPECT_EQ(bytes_of(dir_ / "words"), "bisect 1 --time 2m --db DB --plugin p.so\n");
  EXPECT_EQ(must(read_attempts(layout_, fleet_.uid)).at({examiner_of(fleet_, 1), 1}).exit_code,
            kInterrupted);
  EXPECT_FALSE(must(list_snapshots(layout_)).empty());
}

TEST_F(Examinations, AFleetThatWasStoppedHasNone) {
  shard_found(1, sample_finding(1));
  write_bytes(layout_.stop(), "");
  EXPECT_EQ(must(examine(1)), kOk);
  EXPECT_EQ(bytes_of(dir_ / "words"), "");
}

TEST_F(Examinations, AModelThatTheFleetDoesNotHaveIsAMistake) {
  for (const int model : {0, 3}) {
    const auto none = examine(model);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::usage);
  }
}

}  // namespace
}  // namespace redzone::fleet
