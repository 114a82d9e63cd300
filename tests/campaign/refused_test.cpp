#include "campaign/refused.h"

#include <gtest/gtest.h>

#include <string>

#include "campaign/campaign_case.h"

namespace redzone::campaign::testing {
namespace {

using redzone::testing::ended;
using redzone::testing::faulted;

// Ends at call `index`, as a trial does whose call is refused.
Observation refused_at(const Plan& plan, const TrialSpec& trial, std::int32_t index) {
  Observation o = ended(End::unsupported, "N is odd");
  for (const CallObservation& call : all_right(plan, trial).calls) {
    o.calls.push_back(call);
    if (call.call == index) break;
  }
  return o;
}

// Refuses every odd N, and reads behind x where N is above 64.
Observation refuses_odd(const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
  for (const auto& [index, call] : calls_of_trial(plan, trial)) {
    const auto n = get(call.dims, "N");
    if (n % 2 != 0) return refused_at(plan, trial, index);
    if (n > 64) return faulted(fault_at(index, "x", Access::read, Side::after));
  }
  return all_right(plan, trial);
}

std::vector<std::int64_t> sizes_of(const Plan& plan) {
  std::vector<std::int64_t> sizes;
  for (const CallStep* step : calls_of(plan)) sizes.push_back(get(step->call.dims, "N"));
  return sizes;
}

TEST(WithoutRefusedCalls, LeavesOutTheCallAndThoseThatAreRefusedAlike) {
  Call other = call_of(11, 16);  // in another layout, which may be accepted
  other.layouts["x"].row_padding_elems = 3;
  Plan plan =
      plain_plan({call_of(10, 16), call_of(11, 16), call_of(12, 16), call_of(11, 16), other});
  plan.mode.poison = 0x3f3f3f3fu;
  const auto rest =
      without_refused_calls(plan, std::vector{all_right(plan, {}), refused_at(plan, {}, 1)});
  ASSERT_TRUE(rest);
  EXPECT_EQ(sizes_of(rest->plan), (std::vector<std::int64_t>{10, 12, 11}));
  EXPECT_EQ(rest->refused, 2u);
  EXPECT_EQ(rest->why, "N is odd");
  EXPECT_EQ(rest->plan.mode, plan.mode);
}

TEST(WithoutRefusedCalls, LeavesNoGraphWithoutItsCalls) {
  Plan plan = plain_plan({call_of(11, 16), call_of(10, 16)});
  std::get<CallStep>(plan.steps[0]).graph = 1;
  plan.steps.emplace_back(ReplayStep{});
  const auto rest = without_refused_calls(plan, std::vector{refused_at(plan, {}, 0)});
  ASSERT_TRUE(rest);
  EXPECT_FALSE(has_graphs(rest->plan));
  EXPECT_EQ(sizes_of(rest->plan), std::vector<std::int64_t>{10});
}

TEST(WithoutRefusedCalls, SaysNothingIfNoCallIsLeftOrNoneIsNamed) {
  const Plan plan = plain_plan({call_of(11, 16), call_of(11, 16)});
  EXPECT_FALSE(without_refused_calls(plan, std::vector{refused_at(plan, {}, 0)}));
  EXPECT_FALSE(without_refused_calls(plan, std::vector{ended(End::unsupported)}));
  EXPECT_FALSE(without_refused_calls(plan, std::vector{ended(End::out_of_memory)}));
}

using RefusedTest = CampaignTest;

TEST_F(RefusedTest, JudgesTheCallsThatTheTargetAccepts) {
  options_.plans_per_target = 3;
  const auto result =
      run(refuses_odd, listed({plain_plan({call_of(11, 16), call_of(10, 16), call_of(13, 16)}),
                               plain_plan({call_of(13, 16), call_of(12, 16), call_of(66, 16)}),
                               plain_plan({call_of(11, 16), call_of(13, 16)})}));
  EXPECT_EQ(result.stats.plans, 3u);
  EXPECT_EQ(result.stats.pass, 1u);
  EXPECT_EQ(result.stats.fail, 1u);
  EXPECT_EQ(result.stats.not_applicable, 1u) << "all of its calls are refused";
  EXPECT_EQ(result.targets[0].refused_calls, 3u) << "in reverse order the second faults first";
  EXPECT_EQ(result.targets[0].why_refused, "N is odd");
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(sizes_of(result.findings[0].plan), std::vector<std::int64_t>{66});
}

TEST_F(RefusedTest, FindsABugInATargetThatRefusesHalfOfItsCalls) {
  options_.plans_per_target = 40;
  const auto result = run(refuses_odd, generated());
  EXPECT_EQ(result.stats.plans, 40u);
  EXPECT_LT(result.stats.not_applicable, 20u);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].signature.kind, FailKind::illegal_access);
}

}  // namespace
}  // namespace redzone::campaign::testing
