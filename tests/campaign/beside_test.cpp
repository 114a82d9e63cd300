// What runs beside the screen and beside triage: plans in fresh processes, and further plans of a
// target with an open case.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "campaign/campaign_case.h"

namespace redzone::campaign {
namespace {

using namespace testing;

// The first call of a process decides what all others give. Two trials in one worker agree.
Bug frozen_by_the_first_call() {
  return [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    Observation o = all_right(plan, trial);
    const Call first = before.empty() ? calls_of_trial(plan, trial).front().second : before.front();
    for (auto& call : o.calls)
      call.buffers.back().digest += static_cast<std::uint64_t>(get(first.dims, "N"));
    return o;
  };
}

const std::vector<Plan>& two_calls() {
  static const std::vector<Plan> plans{plain_plan({call_of(10, 16), call_of(20, 16)})};
  return plans;
}

TEST_F(CampaignTest, WhatTheFirstCallOfAProcessFixesIsFoundWithoutAReference) {
  spec_.has_reference = false;
  const auto result = run(frozen_by_the_first_call(), listed(two_calls()));
  EXPECT_EQ(result.stats.fail, 0u) << "the screen sees nothing";
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].signature.kind, FailKind::history);
  EXPECT_EQ(result.findings[0].state, FindingState::confirmed);
  EXPECT_EQ(calls_of(result.findings[0].plan).size(), 2u);
}

TEST_F(CampaignTest, PlansInFreshProcessesAreFew) {
  spec_.has_reference = false;
  options_.plans_per_target = 400;
  options_.worker_cost = std::chrono::milliseconds(1);
  const auto result = run([](const Plan& plan, const TrialSpec& trial,
                             const std::vector<Call>&) { return all_right(plan, trial); },
                          listed(two_calls()));
  EXPECT_EQ(result.stats.fail, 0u);
  EXPECT_GE(executor_->fresh_processes(), 2u);
  EXPECT_LE(executor_->fresh_processes(), 6u);
}

TEST_F(CampaignTest, WithAReferenceNoPlanNeedsAFreshProcess) {
  spec_.has_reference = true;
  run([](const Plan& plan, const TrialSpec& trial,
         const std::vector<Call>&) { return all_right(plan, trial); },
      listed(two_calls()));
  EXPECT_EQ(executor_->fresh_processes(), 0u);
}

// The reduction of one bug takes long, and the second bug shows in later plans only.
TEST_F(CampaignTest, ATargetWithAnOpenCaseGetsFurtherPlans) {
  options_.plans_per_target = 0;
  std::size_t plans_beside = 0;
  options_.stop = [&] { return plans_beside >= 10; };
  const Bug bug = two_bugs();
  run(
      [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
        const auto begun = std::find(journal_.begin(), journal_.end(), "fresh");
        plans_beside = static_cast<std::size_t>(std::count(begun, journal_.end(), "submit"));
        Observation o = bug(plan, trial, before);
        o.wall_us = 100'000;
        return o;
      },
      listed({plain_plan({call_of(900, 16), call_of(800, 16), call_of(700, 16)}),
              plain_plan({call_of(10, 64)})}));
  EXPECT_GE(plans_beside, 10u);
  EXPECT_EQ(sink_.findings.size(), 2u);
}

}  // namespace
}  // namespace redzone::campaign
