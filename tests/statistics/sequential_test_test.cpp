#include "statistics/sequential_test.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace redzone::statistics {
namespace {

Rates rates(double p0, double p1, double false_alarm, double miss) {
  return {p0, p1, false_alarm, miss};
}

struct Chances {
  double fails = 0;
  double passes = 0;
  double open = 0;  // ended undecided
  double runs = 0;  // mean
};

// For a plan that fails with probability `chance`, summed over all outcomes of at most `most` runs.
// `batch`: how many runs are made before the next decision, given the counts so far.
template <class Batch>
Chances chances(const Rates& with, double chance, std::int64_t most, Batch batch) {
  struct State {
    std::int64_t n = 0, k = 0;
    auto operator<=>(const State&) const = default;
  };
  std::map<State, double> open{{State{}, 1.0}};  // the fewest runs first
  Chances out;
  while (!open.empty()) {
    const auto [state, weight] = *open.begin();
    open.erase(open.begin());
    const std::int64_t runs = std::min<std::int64_t>(batch(state.k, state.n), most - state.n);
    double of_failures = std::pow(1 - chance, static_cast<double>(runs));  // of no failure
    for (std::int64_t failures = 0; failures <= runs; ++failures) {
      const State next{state.n + runs, state.k + failures};
      const double share = weight * of_failures;
      of_failures *= static_cast<double>(runs - failures) / static_cast<double>(failures + 1) *
                     chance / (1 - chance);
      const auto decision = SequentialTest(with, next.k, next.n).decision();
      out.runs += share * static_cast<double>(runs);
      if (decision == Decision::fails)
        out.fails += share;
      else if (decision == Decision::passes)
        out.passes += share;
      else if (next.n >= most)
        out.open += share;
      else
        open[next] += share;
    }
  }
  return out;
}

Chances one_by_one(const Rates& with, double chance, std::int64_t most = 2000) {
  return chances(with, chance, most, [](std::int64_t, std::int64_t) { return 1; });
}

Rates some_rates() {
  const double p1 = *rc::gen::inRange(10, 96) * 0.01;
  const double p0 = p1 * *rc::gen::inRange(1, 60) * 0.01;
  return rates(p0, p1, *rc::gen::element(0.002, 0.01, 0.1, 0.3),
               *rc::gen::element(0.001, 0.02, 0.2));
}

constexpr double kRounding = 1e-9;

// Wald's bounds: each rate is at most the stated one over (1 - the other), and their sum at most
// the sum of the stated ones. They hold for any batch sizes and for a test that is ended before it
// decides.
TEST(SequentialTest, KeepsTheErrorRatesThatItStates) {
  EXPECT_TRUE(rc::check("false alarms and misses, exactly", [] {
    const Rates with = some_rates();
    const auto most = *rc::gen::element<std::int64_t>(5, 60, 200);
    const auto largest = *rc::gen::inRange<std::int64_t>(1, 12);
    const auto batch = [&](std::int64_t k, std::int64_t n) { return 1 + (7 * k + n) % largest; };
    const auto p0 = chances(with, with.p0, most, batch);
    const auto p1 = chances(with, with.p1, most, batch);
    RC_ASSERT(p0.fails <= with.false_alarm / (1 - with.miss) + kRounding);
    RC_ASSERT(p1.passes <= with.miss / (1 - with.false_alarm) + kRounding);
    const double sum = with.false_alarm + with.miss;
    // The bound on the sum holds only if every test was decided.
    if (p0.open + p1.open < kRounding) RC_ASSERT(p0.fails + p1.passes <= sum + kRounding);
    RC_ASSERT(std::abs(p0.fails + p0.passes + p0.open - 1) < kRounding);
  }));
}

TEST(SequentialTest, DecidesAtTheRatesThatItTells) {
  for (const auto& with :
       {rates(0.05, 0.5, 0.05, 0.02), rates(0.01, 0.2, 0.02, 0.05), rates(0.3, 0.6, 0.05, 0.05)}) {
    const auto p0 = one_by_one(with, with.p0), p1 = one_by_one(with, with.p1);
    EXPECT_LT(p0.open + p1.open, kRounding);
    EXPECT_LE(p0.fails + p1.passes, with.false_alarm + with.miss + kRounding);
    EXPECT_GT(p0.fails, 0);
    EXPECT_GT(p1.passes, 0);
    EXPECT_LT(p0.runs, 200);
    EXPECT_LT(p1.runs, 200);
  }
}

TEST(SequentialTest, SaysFailsTheMoreOftenTheMoreOftenAPlanFails) {
  EXPECT_TRUE(rc::check("in one order", [] {
    const Rates with = some_rates();
    double before = 0;
    for (const double chance : {0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.99}) {
      const double fails = one_by_one(with, chance, 100).fails;
      RC_ASSERT(fails >= before - kRounding);
      before = fails;
    }
  }));
}

TEST(SequentialTest, OfAFailureThatWasSeenIsDecidedByOneMore) {
  for (const std::int64_t n : {1, 6, 20, 200}) {
    SequentialTest test(rates_for(1, n, 0.001));
    EXPECT_EQ(test.decision(), Decision::open);
    test.add(true);
    EXPECT_EQ(test.decision(), Decision::fails) << n;
  }
}

// A rarer failure needs more passes before it counts as fixed.
TEST(SequentialTest, AsksForMorePassesTheRarerTheFailure) {
  std::int64_t before = 0;
  for (const std::int64_t k : {50, 25, 10, 3}) {
    const auto passes = SequentialTest(rates_for(k, 50, 0.001)).passes_to_go();
    EXPECT_GT(passes, before) << k;
    before = passes;
  }
}

TEST(SequentialTest, LooksAtCountsOnly) {
  EXPECT_TRUE(rc::check("runs in any order and in any parts decide the same", [] {
    const auto runs = *rc::gen::container<std::vector<bool>>(rc::gen::arbitrary<bool>());
    const Rates with{0.05, 0.5, 0.01, 0.01};
    SequentialTest one_by_one(with);
    std::int64_t k = 0;
    for (const bool failed : runs) {
      one_by_one.add(failed);
      k += failed ? 1 : 0;
    }
    const SequentialTest at_once(with, k, static_cast<std::int64_t>(runs.size()));
    RC_ASSERT(one_by_one.decision() == at_once.decision());
    RC_ASSERT(one_by_one.passes_to_go() == at_once.passes_to_go());
  }));
}

TEST(SequentialTest, PassesAfterAsManyPassesAsItSays) {
  EXPECT_TRUE(rc::check("neither sooner nor later", [] {
    const auto k = *rc::gen::inRange<std::int64_t>(1, 40);
    const auto n = k + *rc::gen::inRange<std::int64_t>(0, 200);
    SequentialTest test(rates_for(k, n, 0.0005));
    const auto to_go = test.passes_to_go();
    test.add(0, to_go - 1);
    RC_ASSERT(test.decision() == Decision::open);
    test.add(false);
    RC_ASSERT(test.decision() == Decision::passes);
  }));
}

}  // namespace
}  // namespace redzone::statistics
