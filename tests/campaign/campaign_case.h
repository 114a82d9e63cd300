// A campaign over a target that behaves as a test says.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "campaign/campaign.h"
#include "campaign/fakes.h"
#include "campaign/listed_plans.h"
#include "generators/plan_generator.h"

namespace redzone::campaign::testing {

class GeneratedPlans final : public PlanSource {
 public:
  explicit GeneratedPlans(const TargetSpec& spec)
      : generator_(spec, generators::host_budget(), 5) {}
  Plan next() override { return generator_.next(); }

 private:
  generators::PlanGenerator generator_;
};

// Writes before y where C is 64, and else reads behind x where N is above 64.
inline Bug two_bugs() {
  return [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    for (const auto& [index, call] : calls_of_trial(plan, trial)) {
      if (get(call.dims, "C") == 64)
        return redzone::testing::faulted(fault_at(index, "y", Access::write, Side::before));
      if (get(call.dims, "N") > 64)
        return redzone::testing::faulted(fault_at(index, "x", Access::read, Side::after));
    }
    return all_right(plan, trial);
  };
}

class CampaignTest : public ::testing::Test {
 protected:
  CampaignTest() {
    options_.triage.reduce_time = std::chrono::hours(1);
    options_.plans_per_target = 40;
  }

  std::vector<TargetUnderTest> listed(std::vector<Plan> plans) {
    std::vector<TargetUnderTest> targets;
    targets.push_back({&spec_, std::make_unique<ListedPlans>(std::move(plans)), {}});
    return targets;
  }
  std::vector<TargetUnderTest> generated() {
    std::vector<TargetUnderTest> targets;
    targets.push_back({&spec_, std::make_unique<GeneratedPlans>(spec_), {}});
    return targets;
  }

  Result<CampaignResult> try_run(Bug bug, std::vector<TargetUnderTest> targets) {
    executor_ = std::make_unique<FakeExecutor>(std::move(bug), &journal_);
    Campaign campaign(*executor_, catalog_, real_simplify(), sink_, std::move(targets), options_);
    return campaign.run();
  }
  CampaignResult run(Bug bug, std::vector<TargetUnderTest> targets) {
    auto result = try_run(std::move(bug), std::move(targets));
    EXPECT_TRUE(result) << result.error().message;
    const auto& s = result->stats;
    EXPECT_EQ(s.pass + s.fail + s.inconclusive + s.not_applicable + s.harness_errors, s.plans);
    return *result;
  }

  TargetSpec spec_ = small_spec();
  oracles::Catalog catalog_;
  Journal journal_;
  RecordingSink sink_{&journal_};
  CampaignOptions options_;
  std::unique_ptr<FakeExecutor> executor_;
};

}  // namespace redzone::campaign::testing
