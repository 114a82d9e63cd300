#include "statistics/interval.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace redzone::statistics {
namespace {

// The bounds have a closed form for no failure in n runs and for nothing but failures.
TEST(ExactInterval, HasTheClosedFormAtItsEnds) {
  for (const std::int64_t n : {1, 5, 10, 300}) {
    const double tail = std::pow(0.025, 1.0 / static_cast<double>(n));
    EXPECT_EQ(exact_interval(0, n).low, 0);
    EXPECT_NEAR(exact_interval(0, n).high, 1 - tail, 1e-9) << n;
    EXPECT_NEAR(exact_interval(n, n).low, tail, 1e-9) << n;
    EXPECT_EQ(exact_interval(n, n).high, 1);
  }
}

TEST(ExactInterval, OfNoRunSaysNothing) {
  EXPECT_EQ(exact_interval(0, 0).low, 0);
  EXPECT_EQ(exact_interval(0, 0).high, 1);
}

TEST(ExactInterval, HoldsWhatWasSeenAndGrowsWithIt) {
  for (std::int64_t n = 1; n <= 100; ++n) {
    Interval before;
    for (std::int64_t k = 0; k <= n; ++k) {
      const Interval i = exact_interval(k, n);
      const double seen = static_cast<double>(k) / static_cast<double>(n);
      EXPECT_LE(i.low, seen) << k << " of " << n;
      EXPECT_GE(i.high, seen) << k << " of " << n;
      EXPECT_EQ(i.low == 0, k == 0);
      EXPECT_EQ(i.high == 1, k == n);
      if (k > 0) {
        EXPECT_GT(i.low, before.low) << k << " of " << n;
        EXPECT_GT(i.high, before.high) << k << " of " << n;
      }
      before = i;
    }
  }
}

TEST(ExactInterval, LiesWithinOneOfMoreConfidence) {
  EXPECT_TRUE(rc::check("90% within 95% within 99%, and mirrored for passes", [] {
    const auto n = *rc::gen::inRange<std::int64_t>(1, 2000);
    const auto k = *rc::gen::inRange<std::int64_t>(0, n + 1);
    Interval wider = exact_interval(k, n, 0.99);
    for (const double confidence : {0.95, 0.9}) {
      const Interval i = exact_interval(k, n, confidence);
      RC_ASSERT(wider.low <= i.low);
      RC_ASSERT(i.high <= wider.high);
      const Interval passes = exact_interval(n - k, n, confidence);
      RC_ASSERT(std::abs(passes.low - (1 - i.high)) < 1e-9);
      RC_ASSERT(std::abs(passes.high - (1 - i.low)) < 1e-9);
      wider = i;
    }
  }));
}

// Probability that the interval of n runs, each failing with probability p, misses p.
double missed(const std::vector<Interval>& of_k, std::int64_t n, double p) {
  double missed = 0;
  double chance = std::pow(1 - p, static_cast<double>(n));  // of k = 0
  for (std::int64_t k = 0; k <= n; ++k) {
    const Interval& i = of_k[static_cast<std::size_t>(k)];
    if (p < i.low || i.high < p) missed += chance;
    chance *= static_cast<double>(n - k) / static_cast<double>(k + 1) * p / (1 - p);
  }
  return missed;
}

// The guarantee of an exact interval, summed over all outcomes.
TEST(ExactInterval, CoversEveryChanceAtLeastAsOftenAsItSays) {
  for (const double confidence : {0.9, 0.95, 0.99})
    for (std::int64_t n = 1; n <= 100; ++n) {
      std::vector<Interval> of_k;
      for (std::int64_t k = 0; k <= n; ++k) of_k.push_back(exact_interval(k, n, confidence));
      double worst = 0;
      for (int i = 1; i < 500; ++i) worst = std::max(worst, missed(of_k, n, i / 500.0));
      EXPECT_LE(worst, 1 - confidence + 1e-12) << n << " runs";
    }
}

}  // namespace
}  // namespace redzone::statistics
