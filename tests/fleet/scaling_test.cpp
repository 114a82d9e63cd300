// What a fleet costs its shards, on a simulated clock (fleet/simulated_fleet.h).
#include <gtest/gtest.h>

#include "fleet/simulated_fleet.h"

namespace redzone::fleet {
namespace {

using namespace testing;

// Several times what bench/results/host-fleet.txt has.
constexpr FleetCosts kDear{
    .publish = 1, .ask = 0.02, .look = 0.001, .merge = 0.3, .cycle = 1, .reduce = 0, .pull = 0.5};

// Plans of a fleet by those of as many nights by themselves.
double linear(int shards, const FleetCosts& costs) {
  const auto fleet = SimulatedFleet({.shards = shards}, costs).run();
  const auto alone = SimulatedFleet({.shards = 1, .fleet = false}, costs).run();
  return fleet.plans / (shards * alone.plans);
}

TEST(FleetScaling, EightShardsMakeThePlansOfEightNights) {
  EXPECT_GE(linear(8, kDear), 0.95);
  EXPECT_LE(linear(8, kDear), 1) << "a fleet has no time that its shards do not have";
}

TEST(FleetScaling, WhatPublishingCostsIsSeen) {
  FleetCosts costs = kDear;
  costs.publish = 20;
  EXPECT_LT(linear(8, costs), 0.95);
}

TEST(FleetScaling, ReductionsThatAreDividedLeaveTimeForPlans) {
  FleetCosts costs = kDear;
  costs.reduce = 30;
  EXPECT_GT(linear(8, costs), 1);
  const auto fleet = SimulatedFleet({.shards = 8}, costs).run();
  EXPECT_LE(fleet.questions, 8 * SimulatedNight{}.met);
  EXPECT_GT(fleet.reduced, 0);
  EXPECT_LE(static_cast<double>(fleet.reductions), 1.05 * static_cast<double>(fleet.reduced));
}

TEST(FleetScaling, WhatIsPublishedAsReducedIsNotAskedAbout) {
  const SimulatedNight night{.shards = 8, .signatures = 40};
  const auto fleet = SimulatedFleet(night, kDear).run();
  EXPECT_LT(fleet.questions, night.shards * night.met / 2) << "most were met by others before";
  EXPECT_GT(fleet.pulls, 0);
  EXPECT_LE(fleet.pulls,
            static_cast<std::int64_t>(night.shards * night.seconds / night.snapshot_seconds));
}

TEST(FleetScaling, AHubThatDoesNotKeepUpIsSeen) {
  FleetCosts costs = kDear;
  costs.reduce = 30;
  const auto kept_up = SimulatedFleet({.shards = 8}, costs).run();
  costs.merge = 20;
  const auto behind = SimulatedFleet({.shards = 8}, costs).run();
  EXPECT_LT(kept_up.longest_wait, LeaseTimes{}.answer_timeout);
  EXPECT_GE(behind.longest_wait, LeaseTimes{}.answer_timeout);
  EXPECT_GT(behind.reductions, behind.reduced) << "who is not answered reduces by itself";
}

TEST(FleetScaling, WithoutAFleetNothingIsShared) {
  const auto night = SimulatedFleet({.shards = 2, .fleet = false}, kDear).run();
  EXPECT_EQ(night.files, 0);
  EXPECT_EQ(night.fleet_seconds, 0);
  EXPECT_EQ(night.reductions, 2 * SimulatedNight{}.met);
}

}  // namespace
}  // namespace redzone::fleet
