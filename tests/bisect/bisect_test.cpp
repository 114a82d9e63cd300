#include "bisect/bisect.h"

#include <gtest/gtest.h>

#include "bisect/explain.h"
#include "bisect/fakes.h"

namespace redzone::bisect {
namespace {

using testing::axes_with;
using testing::call_step;
using testing::FakeRunner;
using testing::row_of;
using testing::sample_plan;
using testing::sample_spec;
using Names = std::vector<std::string>;

std::int64_t knob(const Plan& plan, const char* name) {
  return get_int(calls_of(plan).back()->call.config, name);
}
std::int64_t dim(const Plan& plan, std::size_t call, const char* name) {
  return get(calls_of(plan)[call]->call.dims, name);
}

Bisection bisected(const Plan& plan, FakeRunner::Rule fails, double rate = 1) {
  FakeRunner runner(std::move(fails), rate);
  Prober prober(runner, {});
  return bisect(plan, sample_spec(), prober, {});
}

TEST(Bisect, FindsTheOneKnob) {
  const auto b = bisected(sample_plan({call_step(64, 1)}),
                          [](const Plan& p) { return knob(p, "num_warps") != 8; });
  EXPECT_EQ(axes_with(b, {Relevance::both}), Names{"num_warps"});
  EXPECT_EQ(axes_with(b, {Relevance::necessary, Relevance::sufficient, Relevance::unknown}),
            Names{});
  ASSERT_TRUE(b.go && b.come);
  EXPECT_EQ(b.go->settings, Names{"num_warps = 8"});
  EXPECT_EQ(b.go->probe.answer, Answer::passes);
  EXPECT_EQ(b.come->settings, Names{"num_warps = 4"});
  EXPECT_EQ(b.come->probe.answer, Answer::fails);
  EXPECT_TRUE(b.complete);
}

// The case that bisection was built for: no knob matters; only the preceding call does.
TEST(Bisect, FindsThePriorCallWithAnotherC) {
  const auto b = bisected(sample_plan({call_step(64, 32), call_step(128, 64)}), [](const Plan& p) {
    return calls_of(p).size() == 2 && dim(p, 0, "C") != dim(p, 1, "C");
  });
  EXPECT_EQ(axes_with(b, {Relevance::necessary, Relevance::both}),
            (Names{"call 1", "call 2", "call 1: C", "call 2: C"}));
  EXPECT_EQ(axes_with(b, {Relevance::unknown, Relevance::sufficient}), Names{});
  EXPECT_NE(sentence(b).find("after a prior call with another C (call 1)"), std::string::npos)
      << sentence(b);
  EXPECT_NE(sentence(b).find("any knob at any value fails"), std::string::npos) << sentence(b);
}

// Two statements that would contradict each other if the second were of each call alone.
TEST(Bisect, SaysThatADimDoesNotMatterWhereAllCallsHaveIt) {
  const auto b = bisected(sample_plan({call_step(64, 8), call_step(64, 8)}), [](const Plan& p) {
    return calls_of(p).size() == 2 && dim(p, 0, "C") == dim(p, 1, "C");
  });
  std::string all;
  for (const auto& statement : explain(b)) all += statement.text + "\n";
  EXPECT_NE(all.find("call 2: C must be the same as in the other calls"), std::string::npos) << all;
  EXPECT_NE(all.find("C (changed alike in all calls)"), std::string::npos) << all;
  EXPECT_NE(sentence(b).find("C (changed alike in all calls)"), std::string::npos) << sentence(b);
}

TEST(Bisect, NamesBothOfTwoThatAreNeededTogether) {
  const auto b = bisected(sample_plan({call_step(64, 1)}), [](const Plan& p) {
    return knob(p, "num_warps") == 4 && p.mode.launch == Launch::async;
  });
  EXPECT_EQ(axes_with(b, {Relevance::necessary}), (Names{"num_warps", "launch"}));
  EXPECT_EQ(axes_with(b, {Relevance::both, Relevance::sufficient, Relevance::unknown}), Names{});
  ASSERT_TRUE(b.come);
  EXPECT_EQ(b.come->settings, (Names{"num_warps = 4", "launch = async"}));
}

// Neither setting alone makes the failure go away; only combinations show that both matter.
TEST(Bisect, FindsTwoOfWhichEitherIsEnough) {
  const auto b = bisected(sample_plan({call_step(64, 1)}), [](const Plan& p) {
    return knob(p, "block") == 64 || p.mode.placement == Placement::guard_after;
  });
  EXPECT_EQ(axes_with(b, {Relevance::sufficient}), (Names{"block", "placement"}));
  EXPECT_EQ(axes_with(b, {Relevance::both, Relevance::necessary, Relevance::unknown}), Names{});
  EXPECT_EQ(row_of(b, "block").or_else, Names{"placement"});
  ASSERT_TRUE(b.go && b.come);
  EXPECT_EQ(b.go->settings.size(), 2u);
  EXPECT_EQ(b.come->settings.size(), 1u);
}

TEST(Bisect, SaysThatNothingMatters) {
  const auto b = bisected(sample_plan({call_step(64, 1)}), [](const Plan&) { return true; });
  EXPECT_EQ(axes_with(b, {Relevance::both, Relevance::necessary, Relevance::sufficient,
                          Relevance::unknown}),
            Names{});
  EXPECT_FALSE(b.go);
  EXPECT_FALSE(b.come);
  EXPECT_EQ(sentence(b).rfind("It fails with every change", 0), 0u) << sentence(b);
}

TEST(Bisect, OfAPassingPlanSaysSo) {
  const auto b = bisected(sample_plan({call_step(64, 1)}), [](const Plan&) { return false; });
  EXPECT_TRUE(b.rows.empty());
  EXPECT_EQ(sentence(b).rfind("It does not fail now", 0), 0u) << sentence(b);
}

TEST(Bisect, WhoseBudgetEndsSaysUnknownAndNotIrrelevant) {
  FakeRunner runner([](const Plan& p) { return knob(p, "num_warps") != 8; });
  Prober prober(runner, {.runs = 10});
  const auto b = bisect(sample_plan({call_step(64, 1)}), sample_spec(), prober, {});
  EXPECT_FALSE(b.complete);
  EXPECT_FALSE(axes_with(b, {Relevance::unknown}).empty());
  EXPECT_EQ(row_of(b, "num_warps").relevance(), Relevance::unknown);
}

// A bug that needs certain data, except in the smallest plan (H = 1), where all data fails.
TEST(Bisect, SaysOfADimThatItPassesOnlyForWhatTheDataIs) {
  const auto b = bisected(sample_plan({call_step(64, 1, 1)}), [](const Plan& p) {
    return dim(p, 0, "H") == 1 || calls_of(p)[0]->call.seed % 2 == 0;
  });
  EXPECT_EQ(axes_with(b, {Relevance::conditional}), Names{"data"});
  EXPECT_EQ(row_of(b, "data").decides_with, Names{"H"});
  EXPECT_EQ(row_of(b, "H").relevance(), Relevance::both);
  EXPECT_NE(sentence(b).find("the data matters if H has another value"), std::string::npos)
      << sentence(b);
  EXPECT_EQ(sentence(b).find("does not depend on data"), std::string::npos) << sentence(b);
}

// Stale memory fails with recycled buffers under any launch mode; a missing wait fails with fresh
// buffers under launches that do not block. The failures look the same but have different causes.
TEST(Bisect, TellsTwoMechanismsApartThatLookTheSame) {
  const auto fails = [](const Plan& p) {
    return p.mode.allocator == Allocator::caching || p.mode.launch != Launch::blocking;
  };
  Plan plan = sample_plan({call_step(64, 1)});
  plan.mode = with_allocator(plan.mode, Allocator::caching);
  plan.mode.launch = Launch::blocking;
  const auto b = bisected(plan, fails);
  EXPECT_EQ(row_of(b, "allocator").necessary, true);
  EXPECT_EQ(axes_with(b, {Relevance::conditional}), Names{"launch"});
  EXPECT_EQ(row_of(b, "launch").decides_with, Names{"allocator"});
  for (const auto& t : row_of(b, "allocator").tried) {
    if (t.probe.answer != Answer::passes) continue;
    ASSERT_TRUE(t.other_launch) << t.value;
    EXPECT_EQ(t.other_launch->launch, "async");
    EXPECT_EQ(t.other_launch->probe.answer, Answer::fails);
  }
  EXPECT_NE(sentence(b).find("a second mechanism with the same signature fails with guard with "
                             "launch = async"),
            std::string::npos)
      << sentence(b);
  EXPECT_EQ(sentence(b).find("does not depend on launch"), std::string::npos) << sentence(b);
}

TEST(Bisect, SaysNothingOfAnotherLaunchWhereThereIsOneMechanism) {
  Plan plan = sample_plan({call_step(64, 1)});
  plan.mode = with_allocator(plan.mode, Allocator::caching);
  plan.mode.launch = Launch::blocking;
  const auto b =
      bisected(plan, [](const Plan& p) { return p.mode.allocator == Allocator::caching; });
  EXPECT_EQ(row_of(b, "allocator").necessary, true);
  EXPECT_EQ(row_of(b, "launch").relevance(), Relevance::irrelevant);
  for (const auto& t : row_of(b, "allocator").tried) EXPECT_FALSE(t.other_launch) << t.value;
}

TEST(Bisect, TellsAThreshold) {
  const auto b =
      bisected(sample_plan({call_step(65, 1)}), [](const Plan& p) { return dim(p, 0, "T") > 64; });
  bool found = false;
  for (const auto& s : explain(b)) found = found || s.text.rfind("needs T > 64", 0) == 0;
  EXPECT_TRUE(found) << sentence(b);
}

TEST(Bisect, CountsWhatAnOracleComparesAsNeeded) {
  FakeRunner runner([](const Plan&) { return true; });
  Prober prober(runner, {});
  BisectOptions options;
  options.axes.varied = {axis::kLaunch};
  const auto b = bisect(sample_plan({call_step(64, 1)}), sample_spec(), prober, options);
  EXPECT_EQ(axes_with(b, {Relevance::necessary}), Names{"launch"});
  EXPECT_TRUE(row_of(b, "launch").by_oracle);
}

}  // namespace
}  // namespace redzone::bisect
