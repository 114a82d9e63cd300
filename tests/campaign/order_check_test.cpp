// Pairs of operations that the screen saw unordered: tried in both orders, and not for ever.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "campaign/campaign.h"
#include "campaign/fakes.h"
#include "campaign/listed_plans.h"

namespace redzone::campaign {
namespace {

using namespace testing;

// What the directed trials of one pair show.
using Shows = std::function<void(Observation& o, const std::string& buffer, bool second_first)>;

void differs(Observation& o, const std::string&, bool second_first) {
  if (second_first) ++o.calls[0].buffers[1].digest;
}

void ends_by_fault(Observation& o) {
  o = redzone::testing::faulted(
      {.code = "CUDA_ERROR_ILLEGAL_ADDRESS", .call = 0, .kernel = "read"});
}

class OrderCheck : public ::testing::Test {
 protected:
  // Every recorded trial shows `pairs` open pairs, each on a buffer of its own: "tmp0" and so on.
  CampaignResult run(const Shows& shows, std::uint64_t plans, std::uint32_t pairs = 1) {
    const Bug bug = [this, shows, pairs](const Plan& plan, const TrialSpec& trial,
                                         const std::vector<Call>&) {
      Observation o = all_right(plan, trial);
      if (!trial.records_order || trial.mode.launch == Launch::blocking) return o;
      auto& candidates = o.order.emplace().candidates;
      for (std::uint32_t p = 0; p < pairs; ++p)
        candidates.push_back(
            {.buffer = "tmp" + std::to_string(p),
             .buffer_call = 0,
             .first = {.number = 2 * p, .name = "make", .call = 0},
             .second = {.number = 2 * p + 1, .name = "read", .call = 0, .side = true}});
      if (!trial.direction) return o;
      ++directed_;
      o.order->directed = true;
      const std::string buffer = candidates[trial.direction->first / 2].buffer;
      shows(o, buffer, trial.direction->second_first);
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
  // The only finding.
  const Finding& found(const CampaignResult& result) {
    EXPECT_EQ(result.new_ids.size(), 1u);
    return sink_.findings.at(result.new_ids.at(0));
  }

  TargetSpec spec_ = small_spec();
  oracles::Catalog catalog_;
  Journal journal_;
  RecordingSink sink_{&journal_};
  int directed_ = 0;  // trials
};

TEST_F(OrderCheck, TheFirstPlanWithAnOrderThatMattersIsAFinding) {
  const auto result = run(differs, 1);
  EXPECT_EQ(result.stats.pass, 1u);
  EXPECT_EQ(result.stats.suspects, 1u);
  const Finding& f = found(result);
  EXPECT_EQ(f.state, FindingState::confirmed);
  EXPECT_EQ(f.signature, (Signature{FailKind::order, spec_.name, "make, read", "tmp0", "", ""}));
  EXPECT_EQ(f.oracle, "order");
  EXPECT_EQ(calls_of(f.plan).size(), 1u);
  EXPECT_NE(f.plan.mode.launch, Launch::blocking);
}

TEST_F(OrderCheck, AnOrderThatDecidesAboutAFaultIsAFinding) {
  const auto result = run(
      [](Observation& o, const std::string&, bool second_first) {
        if (second_first) ends_by_fault(o);
      },
      1);
  const Finding& f = found(result);
  EXPECT_EQ(f.signature, (Signature{FailKind::order, spec_.name, "make, read", "tmp0", "", ""}));
  EXPECT_NE(f.reason.find("whether 'CUDA_ERROR_ILLEGAL_ADDRESS' ends call 1"), std::string::npos)
      << f.reason;
}

TEST_F(OrderCheck, AFaultInEitherOrderIsASuspectByItself) {
  const auto result = run([](Observation& o, const std::string&, bool) { ends_by_fault(o); }, 1);
  EXPECT_EQ(result.stats.suspects, 1u);
}

TEST_F(OrderCheck, APairThatNeverMattersIsTriedInThreePlansAndThenEverMoreRarely) {
  const auto result = run([](Observation&, const std::string&, bool) {}, 40);
  EXPECT_EQ(result.stats.pass, 40u);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(directed_, 4 * 7) << "in plan 1, 2, 3, 4, 8, 16, 32";
}

// Without a limit each plan would cost five trials for each of its pairs.
TEST_F(OrderCheck, OfOnePlanEightPairsAreTried) {
  run([](Observation&, const std::string&, bool) {}, 1, 16);
  EXPECT_EQ(directed_, 4 * 8);
}

TEST_F(OrderCheck, PairsThatDoNotMatterMakeRoomForTheOthersOfTheSamePlan) {
  const auto result =
      run([](Observation& o, const std::string& buffer,
             bool second_first) { differs(o, buffer, second_first && buffer == "tmp13"); },
          2, 16);
  EXPECT_EQ(found(result).signature.buffer, "tmp13");
}

}  // namespace
}  // namespace redzone::campaign
