#include "campaign/refused.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "campaign/campaign_case.h"

namespace redzone::campaign::testing {
namespace {

using redzone::testing::ended;
using redzone::testing::faulted;

// Ends at call `index`, as a trial does whose call is refused: the calls that it made are observed,
// in the order of the plan.
Observation refused_at(const Plan& plan, const TrialSpec& trial, std::int32_t index) {
  Observation o = ended(End::unsupported, "N is odd");
  const Observation whole = all_right(plan, trial);
  std::vector<std::int32_t> made;
  for (const auto& [called, call] : calls_of_trial(plan, trial)) {
    made.push_back(called);
    if (called == index) break;
  }
  for (const CallObservation& call : whole.calls)
    if (std::find(made.begin(), made.end(), call.call) != made.end()) o.calls.push_back(call);
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

// In the order of the plan, and in reverse.
std::vector<TrialSpec> both_orders(const Plan& plan) {
  std::vector<TrialSpec> trials(2);
  for (std::size_t i = calls_of(plan).size(); i > 0; --i)
    trials[1].order.push_back(static_cast<std::uint32_t>(i - 1));
  return trials;
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
  const auto trials = both_orders(plan);
  const auto rest = without_refused_calls(plan, small_spec(), trials,
                                          std::vector{refused_at(plan, trials[0], 1)});
  ASSERT_TRUE(rest);
  EXPECT_EQ(sizes_of(rest->plan), (std::vector<std::int64_t>{10, 12, 11}));
  EXPECT_EQ(rest->refused, 2u);
  EXPECT_EQ(rest->why, "N is odd");
  EXPECT_EQ(rest->plan.mode, plan.mode);
}

// Say for a base address that only the memory of that trial has.
TEST(WithoutRefusedCalls, KnowsTheCallThatOnlyTheTrialInReverseOrderRefuses) {
  const Plan plan =
      plain_plan({call_of(10, 16), call_of(11, 16), call_of(12, 16), call_of(14, 16)});
  const auto trials = both_orders(plan);
  const auto rest = without_refused_calls(
      plan, small_spec(), trials,
      std::vector{all_right(plan, trials[0]), refused_at(plan, trials[1], 1)});
  ASSERT_TRUE(rest);
  EXPECT_EQ(sizes_of(rest->plan), (std::vector<std::int64_t>{10, 12, 14}));
}

// A trial that captures calls observes none of them before the graph is replayed.
TEST(WithoutRefusedCalls, LeavesNoGraphWithoutItsCalls) {
  Plan plan = plain_plan({call_of(10, 16), call_of(11, 16)});
  std::get<CallStep>(plan.steps[1]).graph = 1;
  plan.steps.emplace_back(ReplayStep{});
  const auto trials = both_orders(plan);
  Observation before_the_graph = ended(End::unsupported, "N is odd");
  before_the_graph.calls = {all_right(plan, trials[0]).calls[0]};
  EXPECT_FALSE(without_refused_calls(plan, small_spec(), trials, std::vector{before_the_graph}));
  const auto rest = without_refused_calls(
      plan, small_spec(), trials, std::vector{before_the_graph, refused_at(plan, trials[1], 1)});
  ASSERT_TRUE(rest);
  EXPECT_FALSE(has_graphs(rest->plan));
  EXPECT_EQ(sizes_of(rest->plan), std::vector<std::int64_t>{10});
  EXPECT_EQ(rest->refused, 1u) << "without its replay";
}

// Each repeat of a call on inout tensors is observed by itself, and only the last under its index.
TEST(WithoutRefusedCalls, TakesNoAcceptedCallForTheRepeatThatWasRefused) {
  TargetSpec spec = small_spec();
  spec.tensors[1].role = Role::inout;
  Plan plan = plain_plan({call_of(10, 16), call_of(11, 16)});
  std::get<CallStep>(plan.steps[1]).repeat = 3;
  const auto trials = both_orders(plan);
  Observation lacks_it = ended(End::unsupported, "N is odd");
  lacks_it.calls = {all_right(plan, trials[0]).calls[0]};
  EXPECT_FALSE(without_refused_calls(plan, spec, trials, std::vector{lacks_it}));
  const auto rest = without_refused_calls(plan, spec, trials,
                                          std::vector{lacks_it, refused_at(plan, trials[1], 1)});
  ASSERT_TRUE(rest);
  EXPECT_EQ(sizes_of(rest->plan), std::vector<std::int64_t>{10});
}

TEST(WithoutRefusedCalls, SaysNothingIfNoCallIsLeftOrNoneIsNamed) {
  const Plan plan = plain_plan({call_of(11, 16), call_of(11, 16)});
  const auto trials = both_orders(plan);
  const auto rest = [&](Observation o) {
    return without_refused_calls(plan, small_spec(), trials, std::vector{std::move(o)});
  };
  EXPECT_FALSE(rest(refused_at(plan, trials[0], 0)));
  EXPECT_FALSE(rest(ended(End::unsupported)));
  EXPECT_FALSE(rest(ended(End::out_of_memory)));
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
