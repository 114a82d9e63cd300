#include "generators/reach.h"

#include <gtest/gtest.h>

#include "tests/generators/specs.h"

namespace redzone::generators {
namespace {

using redzone::testing::chunk_like_spec;

// Calls with N > 1000 cost more than any plan is allowed.
TargetSpec dear_above(std::int64_t limit) {
  TargetSpec spec;
  spec.name = "dear";
  spec.dims = {{.name = "N", .min = 1, .max = 4000, .multiple_of = 1}, {.name = "A", .max = 5}};
  spec.tensors = {{.name = "x", .shape = shape_of({"N"})}};
  spec.work = [limit](const Dims& d, const Config&) { return get(d, "N") > limit ? 1e8 : 1e3; };
  return spec;
}

TEST(OutOfReach, NamesTheUpperEndOfADim) {
  const TargetSpec spec = dear_above(1000);
  const auto out = out_of_reach(CallMaker(spec, true), host_budget());
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].dim, "N");
  EXPECT_EQ(out[0].reached, 1000);
  EXPECT_EQ(out[0].allowed, 4000);
  EXPECT_EQ(PlanGenerator(spec, host_budget(), 1).out_of_reach(), "N above 1000 (of 4000)");
}

TEST(OutOfReach, NothingIsWhereTheBudgetHasRoomForTheLargestDimAlone) {
  EXPECT_EQ(PlanGenerator(dear_above(4000), host_budget(), 1).out_of_reach(), "");
  EXPECT_EQ(PlanGenerator(dear_above(1000), none_budget(), 1).out_of_reach(), "");
  EXPECT_EQ(PlanGenerator(chunk_like_spec(), host_budget(), 1).out_of_reach(), "");
}

TEST(OutOfReach, WhatTheConstraintsLeaveOutIsNotMissed) {
  TargetSpec spec = dear_above(1000);
  spec.constraints = {Constraint::predicate(
      "N is small", [](const Dims& d, const Config&) { return get(d, "N") <= 1000; })};
  EXPECT_EQ(PlanGenerator(spec, host_budget(), 1).out_of_reach(), "");
  spec.constraints = {Constraint::predicate(
      "N is at most 2000", [](const Dims& d, const Config&) { return get(d, "N") <= 2000; })};
  EXPECT_EQ(PlanGenerator(spec, host_budget(), 1).out_of_reach(), "N above 1000 (of 2000)");
}

TEST(OutOfReach, ListsAndMultiplesKeepToTheirValues) {
  TargetSpec spec = dear_above(1000);
  spec.dims[0].multiple_of = 64;
  spec.dims[0].min = 64;
  EXPECT_EQ(PlanGenerator(spec, host_budget(), 1).out_of_reach(), "N above 960 (of 3968)");
  spec.dims[0] = {.name = "N", .values = {1, 7, 900, 2000, 2001, 3000}};
  EXPECT_EQ(PlanGenerator(spec, host_budget(), 1).out_of_reach(), "N above 900 (of 3000)");
}

}  // namespace
}  // namespace redzone::generators
