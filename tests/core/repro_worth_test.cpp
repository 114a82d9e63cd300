// Which of two reproducers is the better one.
#include "core/repro_worth.h"

#include <gtest/gtest.h>

namespace redzone {
namespace {

Finding finding_of(FindingState state, bool minimal, std::int64_t calls) {
  Finding f;
  f.state = state;
  f.minimal = minimal;
  f.plan.target = "t";
  CallStep step;
  step.repeat = calls;
  f.plan.steps = {step};
  return f;
}

Finding measured(Finding f, std::int64_t runs) {
  f.reliability = {f.state == FindingState::flaky ? runs - 1 : runs, runs};
  return f;
}

TEST(ReproWorth, WhatTheRunsShowThenMinimalThenStateThenSize) {
  using enum FindingState;
  const Finding best_first[] = {finding_of(confirmed, true, 2),
                                finding_of(confirmed, true, 3),
                                measured(finding_of(flaky, true, 1), 64),
                                measured(finding_of(confirmed, false, 1), 2),
                                measured(finding_of(confirmed, false, 2), 10),
                                measured(finding_of(confirmed, false, 2), 2),
                                measured(finding_of(flaky, false, 1), 64),
                                measured(finding_of(flaky, true, 1), 3),
                                finding_of(suspect, true, 1),
                                finding_of(unconfirmed, true, 1)};
  for (std::size_t i = 0; i + 1 < std::size(best_first); ++i)
    EXPECT_GT(worth_of(best_first[i]), worth_of(best_first[i + 1])) << i;
}

TEST(ReproWorth, OfAsManyCallsTheShorterTextIsSmaller) {
  Plan small = finding_of(FindingState::suspect, false, 2).plan, large = small;
  large.target = "longer";
  EXPECT_TRUE(is_smaller(small, large));
  EXPECT_FALSE(is_smaller(large, small));
  EXPECT_FALSE(is_smaller(small, small));
  std::get<CallStep>(small.steps[0]).repeat = 3;
  EXPECT_TRUE(is_smaller(large, small)) << "calls come first";
}

}  // namespace
}  // namespace redzone
