#include "statistics/fisher.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <vector>

namespace redzone::statistics {
namespace {

struct Table {
  std::int64_t k1, n1, k2, n2;
};

Table some_table(std::int64_t most) {
  const auto n1 = *rc::gen::inRange<std::int64_t>(0, most + 1);
  const auto n2 = *rc::gen::inRange<std::int64_t>(0, most + 1);
  return {*rc::gen::inRange<std::int64_t>(0, n1 + 1), n1,
          *rc::gen::inRange<std::int64_t>(0, n2 + 1), n2};
}

FisherExact of(const Table& t) {
  return fisher_exact(t.k1, t.n1, t.k2, t.n2);
}

// Counts every way to distribute the failures of both groups over the runs.
FisherExact by_dealing(const Table& t) {
  const auto runs = static_cast<unsigned>(t.n1 + t.n2);
  std::vector<std::int64_t> ways(static_cast<std::size_t>(t.n1) + 1, 0);
  std::int64_t all = 0;
  for (unsigned deal = 0; deal < 1U << runs; ++deal) {
    if (__builtin_popcount(deal) != t.k1 + t.k2) continue;
    ++all;
    ++ways[static_cast<std::size_t>(__builtin_popcount(deal & ((1U << t.n1) - 1)))];
  }
  std::int64_t less = 0, greater = 0, as_rare = 0;
  for (std::int64_t x = 0; x <= t.n1; ++x) {
    const std::int64_t of_x = ways[static_cast<std::size_t>(x)];
    if (x <= t.k1) less += of_x;
    if (x >= t.k1) greater += of_x;
    if (of_x <= ways[static_cast<std::size_t>(t.k1)]) as_rare += of_x;
  }
  const auto share = [&](std::int64_t n) {
    return static_cast<double>(n) / static_cast<double>(all);
  };
  return {share(less), share(greater), share(as_rare)};
}

double binomial(std::int64_t k, std::int64_t n, double p) {
  const auto x = static_cast<double>(k), m = static_cast<double>(n);
  return std::exp(std::lgamma(m + 1) - std::lgamma(x + 1) - std::lgamma(m - x + 1) +
                  x * std::log(p) + (m - x) * std::log1p(-p));
}

// Fisher's lady, who gets 3 of 4 cups right; and one who gets all right.
TEST(FisherExact, KnowsTheLadyWhoTastesTea) {
  const auto three = fisher_exact(3, 4, 1, 4);
  EXPECT_NEAR(three.greater, 17.0 / 70, 1e-12);
  EXPECT_NEAR(three.less, 69.0 / 70, 1e-12);
  EXPECT_NEAR(three.two_sided, 34.0 / 70, 1e-12);
  EXPECT_NEAR(fisher_exact(4, 4, 0, 4).greater, 1.0 / 70, 1e-12);
}

TEST(FisherExact, OfAGroupWithoutRunsSaysNothing) {
  for (const auto& t : {Table{0, 0, 3, 7}, Table{3, 7, 0, 0}, Table{0, 0, 0, 0}}) {
    EXPECT_EQ(of(t).less, 1);
    EXPECT_EQ(of(t).greater, 1);
    EXPECT_EQ(of(t).two_sided, 1);
  }
}

TEST(FisherExact, CountsAsIfEachWayToDealTheFailuresWereListed) {
  EXPECT_TRUE(rc::check("the shares of all deals", [] {
    const Table t = some_table(7);
    const auto expected = by_dealing(t), got = of(t);
    RC_ASSERT(std::abs(got.less - expected.less) < 1e-12);
    RC_ASSERT(std::abs(got.greater - expected.greater) < 1e-12);
    RC_ASSERT(std::abs(got.two_sided - expected.two_sided) < 1e-12);
  }));
}

TEST(FisherExact, IsTheSameFromBothSides) {
  EXPECT_TRUE(rc::check("the groups may change places, and so may failures and passes", [] {
    const Table t = some_table(300);
    const auto one = of(t), swapped = fisher_exact(t.k2, t.n2, t.k1, t.n1),
               passes = fisher_exact(t.n1 - t.k1, t.n1, t.n2 - t.k2, t.n2);
    for (const auto& other : {swapped, passes}) {
      RC_ASSERT(std::abs(one.less - other.greater) < 1e-9);
      RC_ASSERT(std::abs(one.greater - other.less) < 1e-9);
      RC_ASSERT(std::abs(one.two_sided - other.two_sided) < 1e-9);
    }
  }));
}

TEST(FisherExact, GrowsSurerWithEachFailureThatTheOtherGroupLacks) {
  EXPECT_TRUE(rc::check("one more failure in the first group makes `greater` no larger", [] {
    const Table t = some_table(200);
    RC_PRE(t.k1 < t.n1);
    RC_ASSERT(fisher_exact(t.k1 + 1, t.n1, t.k2, t.n2).greater <= of(t).greater + 1e-12);
    RC_ASSERT(fisher_exact(t.k1 + 1, t.n1, t.k2, t.n2).less >= of(t).less - 1e-12);
  }));
}

TEST(FisherExact, HoldsForManyRuns) {
  const auto far = fisher_exact(100000, 100000, 0, 100000);
  EXPECT_LT(far.two_sided, 1e-300);
  EXPECT_EQ(far.less, 1);
  const auto same = fisher_exact(50000, 100000, 50000, 100000);
  EXPECT_NEAR(same.two_sided, 1, 1e-9);
  EXPECT_NEAR(same.less, 0.5, 0.01);
}

// The guarantee of the test: if both groups fail with the same probability, a value of at most
// `level` has a probability of at most `level`. Summed over every pair of counts.
TEST(FisherExact, RaisesNoMoreFalseAlarmsThanItStates) {
  for (const auto& [n1, n2] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 3}, {16, 16}, {5, 40}, {40, 25}})
    for (const double p : {0.001, 0.01, 0.1, 0.3, 0.5, 0.9})
      for (const double level : {0.001, 0.01, 0.05}) {
        double less = 0, greater = 0, two_sided = 0;
        for (std::int64_t k1 = 0; k1 <= n1; ++k1)
          for (std::int64_t k2 = 0; k2 <= n2; ++k2) {
            const double chance = binomial(k1, n1, p) * binomial(k2, n2, p);
            const auto test = fisher_exact(k1, n1, k2, n2);
            less += test.less <= level ? chance : 0;
            greater += test.greater <= level ? chance : 0;
            two_sided += test.two_sided <= level ? chance : 0;
          }
        for (const double alarms : {less, greater, two_sided})
          EXPECT_LE(alarms, level + 1e-12) << n1 << " and " << n2 << " runs, p = " << p;
      }
}

}  // namespace
}  // namespace redzone::statistics
