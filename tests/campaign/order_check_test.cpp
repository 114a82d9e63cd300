// Pairs of operations that the screen saw unordered: tried in both orders, and not for ever.
#include <gtest/gtest.h>

#include "campaign/campaign.h"
#include "campaign/fakes.h"
#include "campaign/listed_plans.h"

namespace redzone::campaign {
namespace {

using namespace testing;

class OrderCheck : public ::testing::Test {
 protected:
  // Every recorded trial shows one open pair, whose order `matters` or does not.
  CampaignResult run(bool matters, std::uint64_t plans) {
    const Bug bug = [this, matters](const Plan& plan, const TrialSpec& trial,
                                    const std::vector<Call>&) {
      Observation o = all_right(plan, trial);
      if (!trial.records_order || trial.mode.launch == Launch::blocking) return o;
      OrderCandidate& pair = o.order.emplace().candidates.emplace_back();
      pair.buffer = "tmp";
      pair.buffer_call = 0;
      pair.first = {.number = 1, .name = "make", .call = 0, .stream = 0, .side = false};
      pair.second = {.number = 2, .name = "read", .call = 0, .stream = 0, .side = true};
      if (!trial.direction) return o;
      ++directed_;
      o.order->directed = true;
      if (matters && trial.direction->second_first) ++o.calls[0].buffers[1].digest;
      return o;
    };
    FakeExecutor executor(bug, &journal_);
    CampaignOptions options;
    options.plans_per_target = plans;
    options.triage.reduce_time = std::chrono::hours(1);
    std::vector<TargetUnderTest> targets;
    targets.push_back(
        {&spec_,
         std::make_unique<ListedPlans>(std::vector{plain_plan({call_of(10, 16), call_of(20, 16)})}),
         {}});
    Campaign campaign(executor, catalog_, real_simplify(), sink_, std::move(targets), options);
    auto result = campaign.run();
    EXPECT_TRUE(result) << result.error().message;
    return *result;
  }

  TargetSpec spec_ = small_spec();
  oracles::Catalog catalog_;
  Journal journal_;
  RecordingSink sink_{&journal_};
  int directed_ = 0;  // trials
};

TEST_F(OrderCheck, TheFirstPlanWithAnOrderThatMattersIsAFinding) {
  const auto result = run(true, 1);
  EXPECT_EQ(result.stats.pass, 1u);
  EXPECT_EQ(result.stats.suspects, 1u);
  ASSERT_EQ(result.new_ids.size(), 1u);
  const Finding& f = sink_.findings.at(result.new_ids[0]);
  EXPECT_EQ(f.state, FindingState::confirmed);
  EXPECT_EQ(f.signature, (Signature{FailKind::order, spec_.name, "make, read", "tmp", "", ""}));
  EXPECT_EQ(f.oracle, "order");
  EXPECT_EQ(calls_of(f.plan).size(), 1u);
  EXPECT_NE(f.plan.mode.launch, Launch::blocking);
}

TEST_F(OrderCheck, APairThatNeverMattersIsTriedInThreePlans) {
  const auto result = run(false, 20);
  EXPECT_EQ(result.stats.pass, 20u);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(directed_, 3 * 4);
}

}  // namespace
}  // namespace redzone::campaign
