// Plans that a reduction tries first, so that it needs few steps.
#include "campaign/head_start.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "campaign/campaign_case.h"
#include "campaign/triage_case.h"
#include "core/plan_text.h"
#include "core/validate.h"

namespace redzone::campaign {
namespace {

using namespace testing;
using redzone::testing::faulted;

Shown shown_at(const Plan& plan, std::int32_t call, std::vector<std::uint32_t> order = {}) {
  Shown shown{nullptr, plan, {}};
  shown.answer.trials.resize(1);
  shown.answer.trials[0].order = std::move(order);
  shown.answer.observations = {faulted(fault_at(call, "x", Access::read, Side::after))};
  return shown;
}

TEST(HeadStart, TheCallThatFaultedIsTriedAloneAndWithThoseBeforeIt) {
  const Plan plan = plain_plan({call_of(10, 16), call_of(900, 16), call_of(20, 16)});
  EXPECT_EQ(around_fault(shown_at(plan, 1)),
            (std::vector{plain_plan({call_of(900, 16)}),
                         plain_plan({call_of(10, 16), call_of(900, 16)})}));
}

TEST(HeadStart, WhatNamesNoCallGivesNothingToTry) {
  const Plan plan = plain_plan({call_of(10, 16), call_of(900, 16)});
  EXPECT_TRUE(around_fault(shown_at(plan, -1)).empty());
  EXPECT_TRUE(around_fault(shown_at(plan, 7)).empty());
  EXPECT_TRUE(around_fault(shown_at(plan, 0, {1, 0})).empty()) << "its index is of another order";
  EXPECT_TRUE(around_fault({nullptr, plan, {}}).empty());
}

RC_GTEST_PROP(HeadStart, EachCandidateIsValidAndSimpler, (std::uint64_t seed)) {
  const TargetSpec spec = small_spec();
  generators::PlanGenerator generator(spec, generators::host_budget(), seed);
  const Plan plan = generator.next();
  Plan invalid = plain_plan({call_of(-1, 16)}), other = generator.next();
  const Plan smallest = plain_plan({call_of(1, 16)});
  const Simplify simplify = with_first(
      real_simplify()(spec),
      [&](const Plan&) {
        return std::vector{invalid, other, smallest};
      },
      spec);
  auto next = simplify.candidates(plan);
  bool other_is_simpler = simplify.simpler(other, plan);
  for (int i = 0; i < 20; ++i) {
    const auto candidate = next();
    if (!candidate) break;
    RC_ASSERT(validate(*candidate, spec));
    RC_ASSERT(simplify.simpler(*candidate, plan));
    if (std::exchange(other_is_simpler, false)) RC_ASSERT(*candidate == other);
  }
}

// Each trial that fails may cost a worker, and a long plan has many parts that fail.
TEST(HeadStart, AFaultOfALongPlanIsReducedInFewSteps) {
  std::vector<Call> calls(60, call_of(10, 16));
  calls[33] = call_of(900, 16);
  TriageCase c(faults_above(64));
  const Finding f = c.settle(plain_plan(calls)).finding;
  EXPECT_EQ(f.plan, plain_plan({call_of(65, 16)})) << print_plan(f.plan);
  TriageCase alone(faults_above(64));
  const Finding of_one = alone.settle(plain_plan({call_of(900, 16)})).finding;
  EXPECT_LE(f.reduction.plans, of_one.reduction.plans + 4);
}

TEST(HeadStart, TheSmallestPlanThatWasSeenToFailAlikeIsTriedFirst) {
  TriageOptions options = patient();
  options.smallest_seen = [] { return plain_plan({call_of(65, 16)}); };
  TriageCase c(faults_above(64), options);
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.plan, plain_plan({call_of(65, 16)})) << print_plan(f.plan);
  TriageCase smallest(faults_above(64));
  const Finding of_it = smallest.settle(plain_plan({call_of(65, 16)})).finding;
  EXPECT_LE(f.reduction.plans, of_it.reduction.plans + 8);  // two batches
}

TEST(HeadStart, ASmallPlanThatDoesNotFailIsNotBelieved) {
  TriageOptions options = patient();
  options.smallest_seen = [] { return plain_plan({call_of(3, 16)}); };
  TriageCase c(faults_above(64), options);
  EXPECT_EQ(c.settle(large()).finding.plan, plain_plan({call_of(65, 16)}));
}

// While one finding waits for its reduction, the screen goes on and meets its bug again.
TEST_F(CampaignTest, AReductionBeginsWithTheSmallestPlanThatTheScreenHasMet) {
  options_.screen_leaves_room = true;
  options_.plans_per_target = 2;
  const auto after = [&](std::vector<Plan> plans) {
    sink_ = RecordingSink(&journal_);
    const auto result = run(faults_above(64), listed(std::move(plans)));
    EXPECT_EQ(result.findings.size(), 1u);
    EXPECT_EQ(result.findings.at(0).plan, plain_plan({call_of(65, 16)}));
    return result.findings.at(0).reduction.plans;
  };
  const Plan small = plain_plan({call_of(65, 16)});
  const Plan history = plain_plan(std::vector<Call>(40, call_of(700, 64)));
  EXPECT_LT(after({history, small}), after({history, history}));
}

}  // namespace
}  // namespace redzone::campaign
