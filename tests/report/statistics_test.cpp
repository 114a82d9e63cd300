#include "report/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace redzone::report {
namespace {

TEST(Statistics, WilsonInterval) {
  struct Case {
    store::Reliability runs;
    double low, high;
  };
  for (const Case& c :
       {Case{{0, 10}, 0.0, 0.27753280}, Case{{10, 10}, 0.72246720, 1.0},
        Case{{5, 10}, 0.23659309, 0.76340691}, Case{{7, 10}, 0.39677815, 0.89220873},
        Case{{1, 1}, 0.20654931, 1.0}, Case{{0, 1}, 0.0, 0.79345069}}) {
    const Interval i = wilson_interval(c.runs);
    EXPECT_NEAR(i.low, c.low, 1e-7) << c.runs.k << "/" << c.runs.n;
    EXPECT_NEAR(i.high, c.high, 1e-7) << c.runs.k << "/" << c.runs.n;
  }
}

TEST(Statistics, WilsonIntervalHoldsTheRatioAndIsExactAtTheEnds) {
  for (std::int64_t n = 1; n <= 200; ++n)
    for (std::int64_t k = 0; k <= n; ++k) {
      const Interval i = wilson_interval({k, n});
      const double p = static_cast<double>(k) / static_cast<double>(n);
      EXPECT_LE(i.low, p);
      EXPECT_GE(i.high, p);
      EXPECT_EQ(i.low == 0, k == 0);
      EXPECT_EQ(i.high == 1, k == n);
    }
}

// What defines the interval: its ends are the chances p from which k/n is 1.96 sigma(p) away.
TEST(Statistics, WilsonIntervalSolvesItsEquation) {
  for (std::int64_t k = 1; k < 30; ++k) {
    const Interval i = wilson_interval({k, 30});
    for (double p : {i.low, i.high})
      EXPECT_NEAR(std::abs(static_cast<double>(k) / 30 - p) / std::sqrt(p * (1 - p) / 30), 1.959964,
                  1e-5);
  }
}

TEST(Statistics, NoRunSaysNothing) {
  const Interval i = wilson_interval({0, 0});
  EXPECT_EQ(i.low, 0);
  EXPECT_EQ(i.high, 1);
}

TEST(Statistics, RatesNeedTime) {
  EXPECT_EQ(per_second(10, 4), 2.5);
  EXPECT_EQ(per_second(10, 0), 0);
}

}  // namespace
}  // namespace redzone::report
