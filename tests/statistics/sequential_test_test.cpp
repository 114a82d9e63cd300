#include "statistics/sequential_test.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>

namespace redzone::statistics {
namespace {

Rates rates(double innocent, double guilty, double false_alarm, double miss) {
  return {innocent, guilty, false_alarm, miss};
}

// Runs a plan of that chance until it is decided.
SequentialTest decide(const Rates& with, double chance, std::mt19937_64& random) {
  SequentialTest test(with);
  std::bernoulli_distribution fails(chance);
  while (test.decision() == Decision::open) test.add(fails(random));
  return test;
}

struct Errors {
  double wrong = 0;  // share
  double runs = 0;   // mean
};

Errors errors(const Rates& with, double chance, Decision right) {
  constexpr int kTests = 4000;
  std::mt19937_64 random(11);
  Errors out;
  for (int i = 0; i < kTests; ++i) {
    const auto test = decide(with, chance, random);
    out.wrong += (test.decision() != right ? 1.0 : 0.0) / kTests;
    out.runs += static_cast<double>(test.n()) / kTests;
  }
  return out;
}

// Wald's bounds: each rate is at most the stated one over (1 - the other).
TEST(SequentialTest, KeepsTheErrorRatesThatItStates) {
  for (const auto& with :
       {rates(0.05, 0.5, 0.05, 0.02), rates(0.01, 0.2, 0.02, 0.05), rates(0.3, 0.6, 0.05, 0.05)}) {
    const auto innocent = errors(with, with.innocent, Decision::passes);
    const auto guilty = errors(with, with.guilty, Decision::fails);
    // Three standard deviations of a share of 4,000 simulated tests.
    EXPECT_LE(innocent.wrong, with.false_alarm / (1 - with.miss) + 0.011);
    EXPECT_LE(guilty.wrong, with.miss / (1 - with.false_alarm) + 0.011);
    EXPECT_GT(innocent.runs, 1);
    EXPECT_GT(guilty.runs, 1);
  }
}

TEST(SequentialTest, MistakesAPlanThatFailsMoreOftenStillLess) {
  const auto with = rates(0.01, 0.2, 0.02, 0.05);
  EXPECT_LE(errors(with, 0.5, Decision::fails).wrong, errors(with, 0.2, Decision::fails).wrong);
}

TEST(SequentialTest, OfAFailureThatWasSeenIsDecidedByOneMore) {
  for (const std::int64_t n : {1, 6, 20, 200}) {
    SequentialTest test(rates_for(1, n, 0.001));
    EXPECT_EQ(test.decision(), Decision::open);
    test.add(true);
    EXPECT_EQ(test.decision(), Decision::fails) << n;
  }
}

// A rarer failure asks for more passes before it is believed to be gone.
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
