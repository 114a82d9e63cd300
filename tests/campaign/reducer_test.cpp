// The reducer over the real simplifications, for failures whose smallest plan is known.
#include "campaign/reducer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <random>
#include <set>
#include <thread>

#include "campaign/fakes.h"
#include "core/plan_text.h"

namespace redzone::campaign {
namespace {

using testing::busy_plan;
using testing::call_of;
using testing::plain_plan;

using Fails = std::function<bool(const Plan&)>;

StillFails one_by_one(Fails fails) {
  return [fails = std::move(fails)](std::span<const Plan> plans) {
    std::vector<Tried> out;
    for (const auto& plan : plans) out.push_back(fails(plan) ? Tried::fails : Tried::passes);
    return out;
  };
}

bool some_call_above(const Plan& plan, std::int64_t n) {
  const auto calls = calls_of(plan);
  return std::any_of(calls.begin(), calls.end(),
                     [&](const CallStep* step) { return get(step->call.dims, "N") > n; });
}

bool two_variants(const Plan& plan) {
  std::set<std::int64_t> variants;
  for (const auto* step : calls_of(plan)) variants.insert(get(step->call.dims, "C"));
  return variants.size() > 1;
}

class Reducer : public ::testing::Test {
 protected:
  Reduced reduced(const Plan& plan, const Fails& fails, const ReduceBudget& budget = {}) {
    EXPECT_TRUE(fails(plan));
    return reduce(plan, testing::real_simplify()(spec_), one_by_one(fails), budget);
  }
  const TargetSpec spec_ = testing::small_spec();
  const Plan large_ = busy_plan({call_of(10, 16), call_of(700, 64), call_of(64, 32),
                                 call_of(512, 16), call_of(65, 16), call_of(900, 32)});
};

TEST_F(Reducer, EndsAtOneCallOfTheSmallestSizeThatFails) {
  const auto r = reduced(large_, [](const Plan& p) { return some_call_above(p, 64); });
  EXPECT_EQ(r.end, ReductionEnd::minimal);
  EXPECT_EQ(r.plan, plain_plan({call_of(65, 16)})) << print_plan(r.plan);
}

TEST_F(Reducer, KeepsBothCallsWhereOneIsNotEnough) {
  const auto r = reduced(large_, two_variants);
  EXPECT_EQ(r.end, ReductionEnd::minimal);
  EXPECT_TRUE(r.plan == plain_plan({call_of(1, 16), call_of(1, 32)}) ||
              r.plan == plain_plan({call_of(1, 32), call_of(1, 16)}))
      << print_plan(r.plan);
}

TEST_F(Reducer, KeepsThePartOfTheModeThatMatters) {
  const auto r = reduced(large_, [](const Plan& p) {
    return p.mode.launch == Launch::gated && some_call_above(p, 64);
  });
  EXPECT_EQ(r.end, ReductionEnd::minimal);
  Plan want = plain_plan({call_of(65, 16)});
  want.mode.launch = Launch::gated;
  EXPECT_EQ(r.plan, want) << print_plan(r.plan);
}

TEST_F(Reducer, LeavesAMinimalPlanAlone) {
  const Plan minimal = plain_plan({call_of(65, 16)});
  const auto r = reduced(minimal, [](const Plan& p) { return some_call_above(p, 64); });
  EXPECT_EQ(r.end, ReductionEnd::minimal);
  EXPECT_EQ(r.plan, minimal);
}

// The plans of a batch run in parallel, and the first of them that fails is taken. The batch size
// therefore changes the cost, not the result.
TEST_F(Reducer, EndsAtTheSamePlanWithAnyBatch) {
  const Fails fails = [](const Plan& p) { return two_variants(p) && some_call_above(p, 20); };
  const auto alone = reduced(large_, fails);
  for (std::size_t batch : {2, 5, 16}) {
    ReduceBudget budget;
    budget.batch = batch;
    EXPECT_EQ(reduced(large_, fails, budget).plan, alone.plan) << "batch " << batch;
  }
}

TEST_F(Reducer, AsksAboutNoPassingPlanTwice) {
  std::set<std::string> passed;
  const auto r = reduced(large_, [&](const Plan& p) {
    EXPECT_FALSE(passed.contains(plan_hash(p))) << print_plan(p);
    if (two_variants(p)) return true;
    passed.insert(plan_hash(p));
    return false;
  });
  EXPECT_EQ(r.end, ReductionEnd::minimal);
}

TEST_F(Reducer, SaysWhenTheEvaluationsAreSpent) {
  const Fails fails = [](const Plan& p) { return some_call_above(p, 64); };
  ReduceBudget budget;
  budget.evaluations = 3;
  budget.batch = 2;
  const auto r = reduced(large_, fails, budget);
  EXPECT_EQ(r.end, ReductionEnd::plans);
  EXPECT_TRUE(fails(r.plan));
  EXPECT_LE(r.evaluations, budget.evaluations + budget.batch - 1);
  EXPECT_GT(r.evaluations, 0u);
}

TEST_F(Reducer, AsksNothingWhenItsTimeIsOverAndSaysSo) {
  ReduceBudget budget;
  budget.time_is_up = [] { return true; };
  const auto r = reduced(large_, two_variants, budget);
  EXPECT_EQ(r.end, ReductionEnd::time);
  EXPECT_EQ(r.plan, large_);
  EXPECT_EQ(r.evaluations, 0u);
}

// A candidate that is being made when the time ends is given up, with the plan reached so far.
TEST_F(Reducer, EndsBetweenTwoFunctionsOfASpec) {
  SpecCalls calls;
  SpecCalls::Function* const slow = calls.keep("the work function");
  const auto halves = [&](Plan plan) {
    std::get<CallStep>(plan.steps[0]).call.dims["N"] /= 2;
    for (;;) {
      const SpecCalls::Running running(&calls, slow);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (get(calls_of(plan)[0]->call.dims, "N") >= 100) return plan;  // below it takes for ever
    }
  };
  const Simplify simplify{
      [&](const Plan& plan) -> PlanStream { return [&halves, plan] { return halves(plan); }; },
      [](const Plan& a, const Plan& b) {
        return get(calls_of(a)[0]->call.dims, "N") < get(calls_of(b)[0]->call.dims, "N");
      }};
  ReduceBudget budget;
  budget.spec_calls = &calls;
  budget.time_is_up = [until = std::chrono::steady_clock::now() + std::chrono::seconds(1)] {
    return std::chrono::steady_clock::now() >= until;
  };
  const auto r = reduce(plain_plan({call_of(800, 16)}), simplify,
                        one_by_one([](const Plan&) { return true; }), budget);
  EXPECT_EQ(r.end, ReductionEnd::time);
  EXPECT_EQ(r.plan, plain_plan({call_of(100, 16)})) << print_plan(r.plan);
}

// A failure that needs a schedule other than 0. Setting the schedule of each candidate back must
// not count as progress, or the reduction would never end.
TEST_F(Reducer, EndsWhereAVariantUndoesWhatACandidateChanged) {
  std::size_t asked = 0;
  const StillFails under_another_schedule = [&](std::span<Plan> plans) {
    std::vector<Tried> tried;
    for (auto& plan : plans) {
      if (++asked > 20000) return std::vector<Tried>(plans.size(), Tried::passes);
      tried.push_back(some_call_above(plan, 64) ? Tried::fails : Tried::passes);
      if (plan.mode.schedule_seed == 0) plan.mode.schedule_seed = 3;
    }
    return tried;
  };
  const auto r = reduce(large_, testing::real_simplify()(spec_), under_another_schedule, {});
  EXPECT_EQ(r.end, ReductionEnd::minimal);
  Plan want = plain_plan({call_of(65, 16)});
  want.mode.schedule_seed = r.plan.mode.schedule_seed;
  EXPECT_EQ(r.plan, want) << print_plan(r.plan);
  EXPECT_LT(asked, 1000u);
}

TEST_F(Reducer, TakesStrictlySimplerPlansOnlyWhateverIsSaidToFail) {
  EXPECT_TRUE(rc::check("each step forward is simpler, in what failed", [&] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    std::mt19937_64 random(seed);
    const Simplify real = testing::real_simplify()(spec_);
    std::vector<Plan> steps;
    const Simplify watched{[&](const Plan& plan) {
                             steps.push_back(plan);
                             return real.candidates(plan);
                           },
                           real.simpler};
    const StillFails any = [&](std::span<Plan> plans) {
      std::vector<Tried> tried;
      for (auto& plan : plans) {
        plan.mode.schedule_seed = random() % 3;
        if (random() % 4 == 0) plan.mode.placement = Placement::guard_before;
        tried.push_back(random() % 3 != 0 ? Tried::fails : Tried::passes);
      }
      return tried;
    };
    const auto r = reduce(large_, watched, any, {});
    RC_ASSERT(r.end == ReductionEnd::minimal);
    for (std::size_t i = 1; i < steps.size(); ++i) RC_ASSERT(real.simpler(steps[i], steps[i - 1]));
  }));
}

// As if the worker were lost with each smaller plan before it reports anything.
TEST_F(Reducer, IsNotMinimalWhereSimplerPlansCouldNotBeJudged) {
  const StillFails above_64 = [&](std::span<Plan> plans) {
    std::vector<Tried> tried;
    for (const auto& plan : plans)
      tried.push_back(some_call_above(plan, 64)   ? Tried::fails
                      : some_call_above(plan, 32) ? Tried::not_judged
                                                  : Tried::passes);
    return tried;
  };
  const auto r = reduce(large_, testing::real_simplify()(spec_), above_64, {});
  EXPECT_EQ(r.end, ReductionEnd::not_judged);
  EXPECT_EQ(r.plan, plain_plan({call_of(65, 16)})) << print_plan(r.plan);
}

TEST_F(Reducer, IsNotMinimalWhereTheTimeEndedTheLastQuestions) {
  bool over = false;
  ReduceBudget budget;
  budget.stop = [&] { return over; };
  budget.batch = 1000;  // all candidates of a plan in one batch
  const StillFails ended = [&](std::span<Plan> plans) {
    over = true;
    return std::vector<Tried>(plans.size(), Tried::not_judged);
  };
  const auto r = reduce(large_, testing::real_simplify()(spec_), ended, budget);
  EXPECT_EQ(r.end, ReductionEnd::interrupted);
}

TEST_F(Reducer, EndsWhenItIsStopped) {
  int asked = 0;
  ReduceBudget budget;
  budget.stop = [&] { return asked >= 5; };
  const auto r = reduced(
      large_,
      [&](const Plan& p) {
        ++asked;
        return two_variants(p);
      },
      budget);
  EXPECT_EQ(r.end, ReductionEnd::interrupted);
  EXPECT_TRUE(two_variants(r.plan));
  EXPECT_LE(r.evaluations, 5u);
}

}  // namespace
}  // namespace redzone::campaign
