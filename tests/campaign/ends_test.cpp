// When a campaign ends, and what of its triage is kept then.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "campaign/campaign_case.h"
#include "core/spec_calls.h"

namespace redzone::campaign {
namespace {

using namespace testing;
TEST_F(CampaignTest, EndsWhenItIsStopped) {
  options_.plans_per_target = 0;
  options_.stop = [&] { return executor_->trials() > 20; };
  const auto result = run(faults_above(2000), generated());
  EXPECT_TRUE(result.stopped);
  EXPECT_LE(result.stats.plans, 20u);
}

TEST_F(CampaignTest, EndsWhenItIsStoppedDuringTriage) {
  options_.plans_per_target = 0;
  // The third time that somebody asks for fresh workers, it is confirmed and being reduced.
  options_.stop = [&] { return std::count(journal_.begin(), journal_.end(), "fresh") > 2; };
  const auto result = run(faults_above(64), listed({plain_plan({call_of(900, 16)})}));
  EXPECT_TRUE(result.stopped);
  ASSERT_EQ(sink_.findings.size(), 1u);
  EXPECT_EQ(sink_.findings.at(1).state, FindingState::confirmed);
  EXPECT_FALSE(sink_.findings.at(1).minimal);
}

TEST_F(CampaignTest, EndsWhenItsTimeIsOver) {
  options_.plans_per_target = 0;
  options_.time = std::chrono::milliseconds(20);
  const auto result = run(faults_above(2000), generated());
  EXPECT_FALSE(result.stopped);
}

TEST_F(CampaignTest, EndsWithTheErrorOfTheSink) {
  sink_.fail_from_now_on({ErrorKind::harness, "the disk is full"});
  const auto result = try_run(faults_above(64), generated());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "the disk is full");
}

// Each call of the shape function takes half a second. What the real clock says does not matter,
// but that it moves between two calls.
TEST_F(CampaignTest, EndsInTimeWhereTheFunctionsOfTheSpecAreSlow) {
  SpecCalls calls;
  auto* shape = calls.keep("the shape function");
  auto now = std::chrono::steady_clock::time_point{};
  spec_.tensors[0].shape = [&, of = spec_.tensors[0].shape](const Dims& dims) {
    const SpecCalls::Running running(&calls, shape);
    std::this_thread::sleep_for(std::chrono::milliseconds(12));
    now += std::chrono::milliseconds(500);
    return of(dims);
  };
  options_.now = [&] { return now; };
  options_.spec_calls = &calls;
  options_.plans_per_target = 0;
  for (const bool stopped : {false, true}) {
    auto targets = generated();
    now = {};
    options_.time = stopped ? std::chrono::hours(1) : std::chrono::seconds(5);
    options_.stop = [&] { return stopped && now.time_since_epoch() >= std::chrono::seconds(5); };
    const auto result = run(faults_above(2000), std::move(targets));
    // One call may have begun just before.
    EXPECT_LT(now.time_since_epoch(), std::chrono::seconds(6));
    EXPECT_EQ(result.stopped, stopped);
  }
}

TEST_F(CampaignTest, EndsWithTheFindingsThatWereAskedFor) {
  options_.plans_per_target = 0;
  for (const std::uint64_t findings : {1u, 2u}) {
    SCOPED_TRACE(findings);
    sink_ = RecordingSink(&journal_);
    options_.findings = findings;
    const auto result = run(two_bugs(), generated());
    EXPECT_FALSE(result.stopped);
    std::uint64_t minimal = 0;
    for (const auto& [id, f] : sink_.findings) minimal += f.minimal ? 1 : 0;
    EXPECT_GE(minimal, findings);
    EXPECT_EQ(result.new_ids.size(), result.stats.new_findings);
  }
}

TEST_F(CampaignTest, AKnownFindingIsNoneOfThoseThatWereAskedFor) {
  options_.plans_per_target = 0;
  options_.findings = 1;
  const Plan known = plain_plan({call_of(99, 16)}), other = plain_plan({call_of(9, 64)});
  ASSERT_EQ(run(two_bugs(), listed({known})).new_ids, std::vector<std::int64_t>{1});
  sink_.older = {1};
  const auto result = run(two_bugs(), listed({known, other}));
  EXPECT_EQ(result.stats.known_findings, 1u);
  ASSERT_EQ(result.new_ids.size(), 1u);
  EXPECT_EQ(sink_.findings.at(result.new_ids.front()).plan, plain_plan({call_of(1, 64)}));
}

}  // namespace
}  // namespace redzone::campaign
