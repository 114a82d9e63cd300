// The oracles that compare a plan with itself without its axis.
#include <gtest/gtest.h>

#include "oracles/axis_oracle.h"
#include "oracles/observations.h"

namespace redzone::oracles {
namespace {

using testing::compared_spec;
using testing::completed;
using testing::plan_of_calls;

Plan reusing_plan() {
  Plan plan = plan_of_calls({1, 2});
  plan.mode.launch = Launch::gated;
  plan.mode.addresses = Addresses::reused;
  return plan;
}

TEST(AddressOracle, AddressesAreComparedWithBlockingLaunchesAndOnlyWhereTheyAreReused) {
  Plan plan = reusing_plan();
  const auto trials = address_oracle().expand(plan, compared_spec());
  ASSERT_EQ(trials.size(), 3u);
  for (const auto& trial : trials) {
    EXPECT_EQ(trial.mode.launch, Launch::blocking);
    EXPECT_TRUE(trial.reference);
    EXPECT_EQ(trial.mode.addresses, &trial == &trials[1] ? Addresses::reused : Addresses::distinct);
  }
  EXPECT_EQ(trials[2].order, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_NE(trials[2].mode.poison, trials[0].mode.poison);
  plan.mode.addresses = Addresses::distinct;
  EXPECT_TRUE(address_oracle().expand(plan, compared_spec()).empty());
}

// A stale pointer may be right by chance where memory is used again.
TEST(AddressOracle, WhatIsWrongWithAddressesOfItsOwnDoesNotDependOnThem) {
  const auto judged = [](std::vector<std::uint64_t> reused, std::vector<std::uint64_t> control,
                         bool wrong) {
    std::vector<Observation> all{completed({1, 2}), completed(std::move(reused)),
                                 completed(std::move(control))};
    all[0].calls[1].references = {{.tensor = "y", .numel = 1, .mismatches = wrong ? 1u : 0u}};
    return address_oracle().judge(reusing_plan(), compared_spec(), all);
  };
  EXPECT_EQ(host_thread_oracle().expand(reusing_plan(), compared_spec()).size(), 0u);
  EXPECT_EQ(judged({1, 9}, {1, 2}, false).signature.kind, FailKind::address);
  EXPECT_EQ(judged({1, 2}, {1, 2}, false).outcome, Outcome::pass);
  EXPECT_EQ(judged({1, 9}, {1, 3}, false).outcome, Outcome::inconclusive);
  EXPECT_EQ(judged({1, 9}, {1, 2}, true).outcome, Outcome::inconclusive);
}

}  // namespace
}  // namespace redzone::oracles
