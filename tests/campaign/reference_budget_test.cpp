#include "campaign/reference_budget.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "campaign/fakes.h"

namespace redzone::campaign {
namespace {

using std::chrono::seconds;
using testing::call_of;
using testing::plain_plan;

constexpr double kUnit =
    1e7;  // operations for each element of N; a call with N = 2 still counts as small

TargetSpec spec() {
  TargetSpec s = testing::small_spec();
  s.has_reference = true;
  s.work = [](const Dims& dims, const Config&) {
    return kUnit * static_cast<double>(get(dims, "N"));
  };
  return s;
}

// A trial that compared every call not left out, at 100 operations per microsecond, and ran for
// `wall_us` besides.
Observation ran(const Plan& plan, const TrialSpec& trial, std::uint64_t wall_us) {
  Observation o = testing::all_right(plan, trial);
  o.wall_us = wall_us;
  std::set<std::int64_t> done;  // equal calls share the run of the reference
  for (auto& call : o.calls) {
    const auto index = static_cast<std::uint32_t>(call.call);
    const bool left_out =
        std::find(trial.left_out.begin(), trial.left_out.end(), index) != trial.left_out.end();
    call.comparison = left_out ? Comparison::left_out : Comparison::compared;
    if (left_out) continue;
    const auto n = get(calls_of(plan)[index]->call.dims, "N");
    if (!done.insert(n).second) continue;
    call.reference_us = static_cast<std::uint64_t>(kUnit * static_cast<double>(n) / 100);
    o.wall_us += call.reference_us;
  }
  return o;
}

struct BudgetCase {
  ReferenceBudget budget{seconds(1000)};
  TargetSpec of = spec();

  // Returns the calls that were left out.
  std::vector<std::uint32_t> run(const Plan& plan, std::uint64_t wall_us) {
    std::vector<TrialSpec> trials{{.mode = {}}, {.mode = {}, .reference = true}};
    const auto reserved = budget.reserve(plan, of, trials);
    EXPECT_TRUE(trials[0].left_out.empty());
    const Observation seen[] = {testing::all_right(plan, trials[0]), ran(plan, trials[1], wall_us)};
    budget.settle(reserved, seen);
    return trials[1].left_out;
  }
};

using Indices = std::vector<std::uint32_t>;

TEST(ReferenceBudget, SmallCallsAreAlwaysCompared) {
  BudgetCase c;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(c.run(plain_plan({call_of(2, 16)}), 0), Indices{});
}

TEST(ReferenceBudget, LargeCallsAloneCanBeLeftOut) {
  const Plan plan =
      plain_plan({call_of(2, 16), call_of(100, 16), call_of(2, 16), call_of(101, 16)});
  std::vector<TrialSpec> trials{{.mode = {}}, {.mode = {}, .reference = true}};
  leave_out_large_calls(plan, spec(), trials);
  EXPECT_EQ(trials[0].left_out, Indices{});
  EXPECT_EQ(trials[1].left_out, (Indices{1, 3}));
}

TEST(ReferenceBudget, TheFirstLargeCallIsComparedAndTheNextOnesWaitForTheirTime) {
  BudgetCase c;
  const Plan large = plain_plan({call_of(100, 16)});  // 10 s
  EXPECT_EQ(c.run(large, 1000), Indices{});
  EXPECT_EQ(c.run(large, 1000), Indices{0});
  // 80 s of other work pay for 20 s of references: the 10 s already spent and 10 s more.
  for (int i = 0; i < 8; ++i) c.run(plain_plan({call_of(1, 16)}), 10'000'000);
  EXPECT_EQ(c.run(large, 1000), Indices{});
  EXPECT_EQ(c.run(large, 1000), Indices{0});
}

TEST(ReferenceBudget, OfSeveralLargeCallsTheCheapestIsTheFirst) {
  BudgetCase c;
  EXPECT_EQ(c.run(plain_plan({call_of(50, 16), call_of(1, 16), call_of(20, 16)}), 0), Indices{0});
}

TEST(ReferenceBudget, EqualCallsAreOne) {
  BudgetCase c;
  EXPECT_EQ(c.run(plain_plan({call_of(20, 16), call_of(50, 16), call_of(20, 16)}), 0), Indices{1});
}

// The cost is an estimate until one call was compared. A target whose calls are all estimated to
// take too long would otherwise never be compared.
TEST(ReferenceBudget, TheFirstLargeCallIsComparedWhateverItMayTake) {
  ReferenceBudget budget{seconds(5)};
  const Plan plan = plain_plan({call_of(100'000, 16)});  // estimated at 10,000 s
  std::vector<TrialSpec> trials{{.mode = {}, .reference = true}};
  const auto reserved = budget.reserve(plan, spec(), trials);
  EXPECT_EQ(trials[0].left_out, Indices{});
  Observation o = testing::all_right(plan, trials[0]);
  o.calls[0].comparison = Comparison::compared;
  o.calls[0].reference_us = 1000;
  o.wall_us = 1'000'000;
  budget.settle(reserved, std::span(&o, 1));
  budget.reserve(plan, spec(), trials);
  EXPECT_EQ(trials[0].left_out, Indices{}) << "it was quicker than was guessed";
}

TEST(ReferenceBudget, WhatWouldTakeTooLongIsLeftOutFromTheStart) {
  ReferenceBudget budget{seconds(5)};
  std::vector<TrialSpec> trials{{.mode = {}, .reference = true}};
  budget.reserve(plain_plan({call_of(100, 16), call_of(40, 16)}), spec(), trials);
  EXPECT_EQ(trials[0].left_out, Indices{0});
}

TEST(ReferenceBudget, AReferenceThatDidNotEndIsNotTriedAgainAtOnce) {
  ReferenceBudget budget{seconds(300)};
  const Plan plan = plain_plan({call_of(100, 16)});
  const auto run = [&](End end) {
    std::vector<TrialSpec> trials{{.mode = {}, .reference = true}};
    const auto reserved = budget.reserve(plan, spec(), trials);
    Observation o;
    o.end = end;
    o.wall_us = 300'000'000;
    budget.settle(reserved, std::span(&o, 1));
    return trials[0].left_out;
  };
  EXPECT_EQ(run(End::fault), Indices{});  // ended before the comparison
  EXPECT_EQ(run(End::worker_error), Indices{});
  EXPECT_EQ(run(End::worker_error), Indices{0});
}

// Every trial compares such a call in a sample, so that no time is set aside for it.
TEST(ReferenceBudget, VeryLargeCallsOfATargetWithSamplesAreLeftOut) {
  TargetSpec sampled = spec();
  sampled.sampled_rows = 4;
  ReferenceBudget budget{seconds(1000)};
  const Plan plan = plain_plan({call_of(1000, 16)});  // 1e10 operations
  std::vector<TrialSpec> trials{{.mode = {}, .reference = true}};
  const auto reserved = budget.reserve(plan, sampled, trials);
  EXPECT_EQ(trials[0].left_out, Indices{0});
  EXPECT_EQ(reserved.us, 0);
  EXPECT_FALSE(reserved.first);
  EXPECT_EQ(reserved.in_all(), 0);
  trials[0].left_out.clear();
  budget.reserve(plan, spec(), trials);
  EXPECT_EQ(trials[0].left_out, Indices{}) << "without samples the first is compared at any cost";
}

TEST(ReferenceBudget, TheTimeOfASampleSaysNothingOfWholeReferences) {
  ReferenceBudget budget{seconds(5)};
  TargetSpec sampled = spec();
  sampled.sampled_rows = 4;
  const Plan plan = plain_plan({call_of(90, 16)});  // estimated at 9 s
  std::vector<TrialSpec> trials{{.mode = {}, .reference = true}};
  Observation o = testing::all_right(plan, trials[0]);
  o.calls[0].comparison = Comparison::sampled;
  o.calls[0].reference_us = 10;
  o.wall_us = 1'000'000'000;
  for (int i = 0; i < 3; ++i)
    budget.settle(budget.reserve(plan, sampled, trials), std::span(&o, 1));
  o.calls[0].comparison = Comparison::compared;
  o.calls[0].reference_us = 9'000'000;
  trials[0].left_out.clear();
  budget.settle(budget.reserve(plan, sampled, trials), std::span(&o, 1));
  trials[0].left_out.clear();
  budget.reserve(plan, sampled, trials);
  EXPECT_EQ(trials[0].left_out, Indices{0}) << "9 s are more than the 5 s that one may take";
}

// Samples are paid by the same share of the time as whole references.
TEST(ReferenceBudget, SlowSamplesAreTakenAsOftenAsTheirTimeAllows) {
  TargetSpec sampled = spec();
  sampled.sampled_rows = 4;
  ReferenceBudget budget{seconds(1000)};
  const Plan plan = plain_plan({call_of(1000, 16)});
  int taken = 0;
  constexpr int kPlans = 400;
  for (int i = 0; i < kPlans; ++i) {
    std::vector<TrialSpec> trials{{.mode = {}, .reference = true}};
    const auto reserved = budget.reserve(plan, sampled, trials);
    Observation o = testing::all_right(plan, trials[0]);
    o.wall_us = 1000;
    if (trials[0].samples) {
      ++taken;
      o.calls[0].comparison = Comparison::sampled;
      o.calls[0].reference_us = 10'000;  // ten times the rest of the trial
      o.wall_us += o.calls[0].reference_us;
    }
    budget.settle(reserved, std::span(&o, 1));
  }
  EXPECT_GE(taken, kPlans / 50);
  EXPECT_LE(taken, kPlans / 40 + 1) << "a quarter of 1 ms, 400 times, pays for 10 samples of 10 ms";
}

TEST(ReferenceBudget, TargetsWithoutAReferenceAreToldNothing) {
  ReferenceBudget budget{seconds(5)};
  TargetSpec none = spec();
  none.has_reference = false;
  std::vector<TrialSpec> trials{{.mode = {}, .reference = true}};
  budget.reserve(plain_plan({call_of(1000, 16)}), none, trials);
  EXPECT_EQ(trials[0].left_out, Indices{});
}

// For any plans, some large call is compared, and the time of the references stays within their
// share, except for the first comparison.
TEST(ReferenceBudget, KeepsToItsShareAndIsNeverNone) {
  rc::check([] {
    BudgetCase c;
    double references_us = 0, first_us = 0, others_us = 0;
    const auto plans = *rc::gen::inRange(1, 40);
    for (int i = 0; i < plans; ++i) {
      std::vector<Call> calls;
      for (int k = *rc::gen::inRange(1, 4); k > 0; --k)
        calls.push_back(call_of(*rc::gen::inRange(3, 60), 16));
      const Plan plan = plain_plan(calls);
      const auto wall_us = static_cast<std::uint64_t>(*rc::gen::inRange(0, 20'000'000));
      others_us += static_cast<double>(wall_us);
      const Indices left_out = c.run(plan, wall_us);
      std::set<std::int64_t> compared;
      for (std::uint32_t k = 0; k < calls.size(); ++k)
        if (std::find(left_out.begin(), left_out.end(), k) == left_out.end())
          compared.insert(get(calls[k].dims, "N"));
      double us = 0;
      for (const auto n : compared) us += kUnit * static_cast<double>(n) / 100;
      if (i == 0) {
        RC_ASSERT(us > 0);
        first_us = us;
      }
      references_us += us;
    }
    RC_ASSERT(references_us - first_us <= 0.25 * others_us);
  });
}

}  // namespace
}  // namespace redzone::campaign
