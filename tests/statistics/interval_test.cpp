#include "statistics/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace redzone::statistics {
namespace {

// Where the ends have a closed form: no failure in n, and nothing but failures.
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

// The law that it is named for, by simulation with a fixed seed.
TEST(ExactInterval, CoversTheChanceAtLeastAsOftenAsItSays) {
  std::mt19937_64 random(7);
  for (const double p : {0.02, 0.3, 0.5, 0.97}) {
    std::binomial_distribution<std::int64_t> runs(40, p);
    int covered = 0;
    for (int i = 0; i < 2000; ++i) {
      const Interval interval = exact_interval(runs(random), 40);
      covered += interval.low <= p && p <= interval.high ? 1 : 0;
    }
    EXPECT_GE(covered, 1900) << p;
  }
}

}  // namespace
}  // namespace redzone::statistics
