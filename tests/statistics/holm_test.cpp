#include "statistics/holm.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace redzone::statistics {
namespace {

// Small values, some of them equal.
std::vector<double> some_p_values() {
  return *rc::gen::container<std::vector<double>>(
      rc::gen::map(rc::gen::inRange(0, 101), [](int n) { return n * n * 1e-4; }));
}

double some_level() {
  return *rc::gen::element(0.001, 0.01, 0.05, 0.2);
}

TEST(Holm, StepsDownFromTheSmallest) {
  // 0.01 <= 0.05 / 4 and 0.015 <= 0.05 / 3, but 0.03 > 0.05 / 2.
  EXPECT_EQ(holm(std::vector<double>{0.03, 0.01, 0.04, 0.015}, 0.05),
            (std::vector<bool>{false, true, false, true}));
  EXPECT_TRUE(holm({}, 0.05).empty());
}

TEST(Holm, OfOneHypothesisIsTheTestItself) {
  EXPECT_EQ(holm(std::vector<double>{0.05}, 0.05), std::vector<bool>{true});
  EXPECT_EQ(holm(std::vector<double>{0.051}, 0.05), std::vector<bool>{false});
}

TEST(Holm, LiesBetweenBonferroniAndNoCorrection) {
  EXPECT_TRUE(rc::check("rejects all that Bonferroni does, and nothing above the level", [] {
    const auto p = some_p_values();
    const double level = some_level();
    const auto rejected = holm(p, level);
    RC_ASSERT(rejected.size() == p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (p[i] <= level / static_cast<double>(p.size())) RC_ASSERT(rejected[i]);
      if (rejected[i]) RC_ASSERT(p[i] <= level);
    }
  }));
}

TEST(Holm, DoesNotDependOnTheOrder) {
  EXPECT_TRUE(rc::check("the same hypotheses are rejected in any order", [] {
    const auto p = some_p_values();
    const double level = some_level();
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    std::shuffle(order.begin(), order.end(), random);
    std::vector<double> shuffled;
    for (const auto i : order) shuffled.push_back(p[i]);
    const auto before = holm(p, level), after = holm(shuffled, level);
    for (std::size_t i = 0; i < order.size(); ++i) RC_ASSERT(after[i] == before[order[i]]);
  }));
}

TEST(Holm, RejectsTheSmallestOnes) {
  EXPECT_TRUE(
      rc::check("what is rejected is no larger than what is kept; more level, more of it", [] {
        const auto p = some_p_values();
        const auto strict = holm(p, 0.01), mild = holm(p, 0.05);
        for (std::size_t i = 0; i < p.size(); ++i) {
          if (strict[i]) RC_ASSERT(mild[i]);
          for (std::size_t j = 0; j < p.size(); ++j)
            if (strict[i] && !strict[j]) RC_ASSERT(p[i] < p[j]);
        }
      }));
}

// The guarantee of the procedure, by simulation with a fixed seed: the true hypotheses have uniform
// p-values, the others very small ones.
TEST(Holm, RejectsAnyTrueHypothesisWithAChanceOfAtMostTheLevel) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  constexpr int kRepetitions = 20000;
  for (const std::size_t wrong : {0U, 3U}) {
    int alarms = 0;
    for (int r = 0; r < kRepetitions; ++r) {
      std::vector<double> p(wrong, 1e-9);
      for (int i = 0; i < 5; ++i) p.push_back(uniform(random));
      const auto rejected = holm(p, 0.05);
      alarms += std::count(rejected.begin() + static_cast<std::ptrdiff_t>(wrong), rejected.end(),
                           true) > 0
                    ? 1
                    : 0;
    }
    // Four standard deviations of the rate.
    EXPECT_LE(alarms, kRepetitions * (0.05 + 0.0062)) << wrong << " wrong hypotheses";
  }
}

}  // namespace
}  // namespace redzone::statistics
