// How long the watchdog of a gate waits, from what happened to earlier holds.
#include "device/cuda/hold_limit.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace redzone::gpu_test {
namespace {

using device::cuda::HoldLimit;
using device::cuda::kLongestHold;
using std::chrono::milliseconds;

TEST(HoldLimit, IsTheLongestUntilAHoldRunsOut) {
  HoldLimit limit;
  EXPECT_EQ(limit.value(), kLongestHold);
  limit.opened_after(milliseconds(1));
  EXPECT_EQ(limit.value(), kLongestHold);
}

TEST(HoldLimit, FallsToTheShortestForATargetThatAlwaysWaits) {
  HoldLimit limit;
  int holds = 0;
  while (limit.value() > HoldLimit::kShortest && holds < 100) {
    limit.ran_out();
    ++holds;
  }
  EXPECT_EQ(holds, 5);
  EXPECT_EQ(limit.value(), HoldLimit::kShortest);
}

TEST(HoldLimit, RisesAgainWhereEnqueueingTakesLong) {
  HoldLimit limit;
  for (int i = 0; i < 10; ++i) limit.ran_out();
  limit.opened_after(milliseconds(9));
  EXPECT_EQ(limit.value(), milliseconds(72));
  limit.opened_after(std::chrono::hours(1000));
  EXPECT_EQ(limit.value(), kLongestHold);
}

TEST(HoldLimit, GivesAllTheTimeNowAndThen) {
  HoldLimit limit;
  int full = 0;
  for (int i = 0; i < 10 * HoldLimit::kPeriod; ++i) {
    limit.ran_out();
    full += limit.value() == kLongestHold;
  }
  EXPECT_EQ(full, 10);
  // Enqueueing takes 100 ms: the next full one tells.
  limit.opened_after(milliseconds(100));
  EXPECT_EQ(limit.value(), kLongestHold);
}

RC_GTEST_PROP(HoldLimit, IsWithinItsBoundsAndAboveWhatWasOpenedInTime,
              (const std::vector<std::pair<bool, int>>& holds)) {
  HoldLimit limit;
  for (const auto& [in_time, ms] : holds) {
    const milliseconds held(std::abs(ms % 1000));
    if (in_time)
      limit.opened_after(held);
    else
      limit.ran_out();
    RC_ASSERT((limit.value() >= HoldLimit::kShortest && limit.value() <= kLongestHold));
    if (in_time)
      RC_ASSERT((limit.value() >= std::min<HoldLimit::Duration>(held * 8, kLongestHold)));
  }
}

}  // namespace
}  // namespace redzone::gpu_test
