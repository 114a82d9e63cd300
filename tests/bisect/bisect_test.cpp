#include "bisect/bisect.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

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

Bisection bisected(const Plan& plan, FakeRunner::Rule fails, double rate = 1,
                   const TargetSpec& spec = sample_spec(), const Memory& stored = {}) {
  FakeRunner runner(std::move(fails), rate);
  Prober prober(runner, {}, stored);
  return bisect(plan, spec, prober, {});
}

// What is said of the setting; "" if nothing is.
std::string said_of(const Bisection& b, const std::string& axis) {
  for (const auto& statement : explain(b))
    for (const auto* before : {"", "needs "})
      if (statement.text.rfind(before + axis + " ", 0) == 0) return statement.text;
  return "";
}

TargetSpec narrow_spec() {
  TargetSpec spec = sample_spec();
  spec.dims[0].max = 64;
  return spec;
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

TEST(Bisect, SaysThatCallsNeedKnobsThatDiffer) {
  Plan plan = sample_plan({call_step(64, 1), call_step(64, 1)});
  std::get<CallStep>(plan.steps[1]).call.config["num_warps"] = 8;
  const auto b = bisected(plan, [](const Plan& p) {
    const auto calls = calls_of(p);
    return calls.size() == 2 && get_int(calls[0]->call.config, "num_warps") !=
                                    get_int(calls[1]->call.config, "num_warps");
  });
  EXPECT_EQ(said_of(b, "num_warps").find("needs num_warps to differ between calls; passes with 4"),
            0u)
      << said_of(b, "num_warps");
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
  const Probe otherwise{Answer::differs, {.other = 3, .said = "reference: y (t)"}};
  EXPECT_EQ(why_it_cannot_be_bisected(otherwise),
            "It fails otherwise now (3 of 3 runs): reference: y (t)");
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

// What fails for every H with some data is no matter of H, although it passes with the plan's data.
TEST(Bisect, SaysSoOfADimWhereTheDataMattersInThePlanItself) {
  Plan plan = sample_plan({call_step(64, 1, 2)});
  std::get<CallStep>(plan.steps[0]).call.seed = 2;
  const auto b = bisected(plan, [](const Plan& p) {
    const Call& call = calls_of(p)[0]->call;
    return call.seed % 3 == 0 || (call.seed == 2 && get(call.dims, "H") >= 2);
  });
  EXPECT_EQ(row_of(b, "data").necessary, true);
  EXPECT_NE(sentence(b).find("; with other data 1 (2 of 6 seeds) also fails"), std::string::npos)
      << sentence(b);
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
  EXPECT_NE(sentence(b).find("also fails with guard with "
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
  for (const auto& s : explain(b))
    found = found || s.text.rfind("needs T > 64 among the values tried (", 0) == 0;
  EXPECT_TRUE(found) << sentence(b);
}

TEST(Bisect, AThresholdIsExactWhereEachValueOfAListWasTried) {
  const auto b =
      bisected(sample_plan({call_step(65, 64)}), [](const Plan& p) { return dim(p, 0, "C") > 8; });
  EXPECT_EQ(said_of(b, "C").rfind("needs C > 8 (fails with 16, 32, 64; passes with", 0), 0u)
      << said_of(b, "C");
}

// 16 and 64 pass and what is below 16 fails, as if there were a bound; but 17 fails.
TEST(Bisect, SaysNoBoundThatTheValuesBesideItContradict) {
  const auto b = bisected(
      sample_plan({call_step(1, 1)}), [](const Plan& p) { return dim(p, 0, "T") % 8 != 0; }, 1,
      narrow_spec());
  const std::string said = said_of(b, "T");
  EXPECT_EQ(said.rfind("T matters: fails with 1, 2", 0), 0u) << said;
  EXPECT_NE(said.find("15, 17"), std::string::npos) << said;
  EXPECT_NE(said.find("; passes with 16, 64"), std::string::npos) << said;
}

// The only passing value of those tried first is that of call 2, but 66 passes as well.
TEST(Bisect, SaysThatCallsMustDifferOnlyWhereTheValuesBesideFail) {
  const auto b = bisected(sample_plan({call_step(1, 1), call_step(65, 1)}), [](const Plan& p) {
    return calls_of(p).size() == 2 && dim(p, 0, "T") <= 64 && dim(p, 1, "T") > 64;
  });
  EXPECT_EQ(said_of(b, "call 1: T"),
            "needs call 1: T < 65 among the values tried (fails with 1, 2, 3, 16, 64; passes with "
            "65, 66, 4096)");
  EXPECT_EQ(sentence(b).find("another T"), std::string::npos) << sentence(b);
  const auto differ = bisected(sample_plan({call_step(1, 1), call_step(65, 1)}), [](const Plan& p) {
    return calls_of(p).size() == 2 && dim(p, 0, "T") != dim(p, 1, "T");
  });
  EXPECT_EQ(said_of(differ, "call 1: T"), "call 1: T must differ from call 2, where it is 65");
}

// What no other value passes with is not called irrelevant, as a value that fails as recorded is.
TEST(Bisect, SaysThatWithOtherValuesItFailsOtherwise) {
  FakeRunner runner([](const Plan& p) {
    return knob(p, "num_warps") == 4 && knob(p, "block") == 64 && dim(p, 0, "T") > 32;
  });
  runner.fails_otherwise = [](const Plan& p) { return dim(p, 0, "T") > 32; };
  Prober prober(runner, {});
  const auto b = bisect(sample_plan({call_step(64, 1)}), sample_spec(), prober, {});
  EXPECT_EQ(axes_with(b, {Relevance::otherwise}), (Names{"num_warps", "block"}));
  EXPECT_EQ(axes_with(b, {Relevance::necessary, Relevance::both}), Names{"T"});
  EXPECT_EQ(b.background, "");
  EXPECT_NE(sentence(b).find("; with another num_warps or block it fails otherwise."),
            std::string::npos)
      << sentence(b);
  EXPECT_EQ(sentence(b).find("not depend on num_warps"), std::string::npos) << sentence(b);
  std::string all;
  for (const auto& statement : explain(b)) all += statement.text + "\n";
  EXPECT_NE(all.find("fails otherwise with any other value of the knobs num_warps (8 (reference: y "
                     "(t)), 2 (reference: y (t))), block (128 (reference: y (t)))\n"),
            std::string::npos)
      << all;
}

TEST(Bisect, SaysWithWhichOfOtherValuesItFailsOtherwise) {
  FakeRunner runner([](const Plan& p) { return knob(p, "num_warps") != 8 && dim(p, 0, "T") > 32; });
  runner.fails_otherwise = [](const Plan& p) { return dim(p, 0, "T") > 32; };
  Prober prober(runner, {});
  const auto b = bisect(sample_plan({call_step(64, 1)}), sample_spec(), prober, {});
  EXPECT_EQ(row_of(b, "num_warps").relevance(), Relevance::irrelevant);
  EXPECT_NE(sentence(b).find("not depend on num_warps (fails otherwise with 8)"), std::string::npos)
      << sentence(b);
}

// The only knob has a value with which it fails otherwise, so not every value fails.
TEST(Bisect, DoesNotSayThatEveryKnobFailsWhereOneFailsOtherwise) {
  FakeRunner runner([](const Plan& p) { return knob(p, "num_warps") != 8; });
  runner.fails_otherwise = [](const Plan&) { return true; };
  Prober prober(runner, {});
  const auto b = bisect(sample_plan({call_step(64, 1)}), sample_spec(), prober, {});
  EXPECT_EQ(b.background, "") << "one value is too few";
  EXPECT_EQ(sentence(b).rfind("It fails; it does not depend on", 0), 0u) << sentence(b);
  EXPECT_EQ(sentence(b).find("any knob"), std::string::npos) << sentence(b);
}

// A second bug that shows with every plan, as a tolerance that is too small does.
TEST(Bisect, LooksPastAFailureThatIsThereWhateverIsChanged) {
  FakeRunner runner([](const Plan& p) { return knob(p, "num_warps") == 4 && dim(p, 0, "T") > 32; });
  runner.fails_otherwise = [](const Plan&) { return true; };
  Prober prober(runner, {});
  const auto b = bisect(sample_plan({call_step(64, 1)}), sample_spec(), prober, {});
  EXPECT_EQ(b.background, "reference: y (t)");
  EXPECT_EQ(axes_with(b, {Relevance::necessary, Relevance::both}), (Names{"num_warps", "T"}));
  EXPECT_EQ(axes_with(b, {Relevance::otherwise}), Names{});
  ASSERT_TRUE(b.go);
  EXPECT_TRUE(b.go->probe.fails_otherwise());
  EXPECT_EQ(b.go->probe.answer_text(), "fails otherwise");
  EXPECT_EQ(sentence(b).find("passes with"), std::string::npos) << sentence(b);
  EXPECT_EQ(said_of(b, "num_warps"), "needs num_warps = 4; fails otherwise with 8, 2");
  EXPECT_NE(
      sentence(b).find("; no value passes: what ends this failure fails as 'reference: y (t)', "
                       "which is another bug, or this one shown otherwise."),
      std::string::npos)
      << sentence(b);
}

TEST(Bisect, CountsTheStoredValuesOfADim) {
  Memory stored;
  stored[plan_hash(sample_plan({call_step(100, 1)}))] = {.passed = 30};
  stored[plan_hash(sample_plan({call_step(101, 1)}))] = {.same = 1};
  const auto b = bisected(
      sample_plan({call_step(5, 1)}), [](const Plan& p) { return dim(p, 0, "T") != 100; }, 1,
      sample_spec(), stored);
  EXPECT_EQ(row_of(b, "T").relevance(), Relevance::necessary);
  const std::string said = said_of(b, "T");
  EXPECT_NE(said.find("101, 4096; passes with 100"), std::string::npos) << said;
  EXPECT_EQ(said.rfind("T matters", 0), 0u) << said;
}

TEST(Bisect, SaysNoBoundThatASampleContradicts) {
  EXPECT_TRUE(rc::check("tried or stored", [] {
    const auto modulus = *rc::gen::inRange<std::int64_t>(1, 40);
    const auto bound = *rc::gen::inRange<std::int64_t>(1, 200);
    const bool above = *rc::gen::arbitrary<bool>(), multiple = *rc::gen::arbitrary<bool>();
    const auto fails = [&](std::int64_t t) {
      return (t % modulus == 0) == multiple && (t > bound) == above;
    };
    std::int64_t failing = 1;
    while (failing < 400 && !fails(failing)) ++failing;
    RC_PRE(fails(failing));
    Memory stored;
    for (const auto t :
         *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(1, 256))) {
      auto& counts = stored[plan_hash(sample_plan({call_step(t, 1)}))];
      (fails(t) ? counts.same : counts.passed) = 30;
    }
    const auto b = bisected(
        sample_plan({call_step(failing, 1)}), [&](const Plan& p) { return fails(dim(p, 0, "T")); },
        1, sample_spec(), stored);
    const std::string said = said_of(b, "T");
    const bool less = said.rfind("needs T < ", 0) == 0, more = said.rfind("needs T > ", 0) == 0;
    if (!less && !more) return;
    const auto limit = std::stoll(said.substr(std::string("needs T < ").size()));
    RC_ASSERT(fails(less ? limit - 1 : limit + 1));
    for (const auto& tried : row_of(b, "T").tried) {
      const auto value = std::stoll(tried.value);
      RC_ASSERT((tried.probe.answer == Answer::fails) == (less ? value < limit : value > limit));
    }
    for (std::int64_t t = 1; t < 256; ++t)
      if (stored.contains(plan_hash(sample_plan({call_step(t, 1)}))))
        RC_ASSERT(fails(t) == (less ? t < limit : t > limit));
  }));
}

// 8192 and what is between are not near 49, and a kernel may fail there for the same reason.
TEST(Bisect, SaysNoBoundThatTheLargestValueContradicts) {
  const auto b = bisected(sample_plan({call_step(49, 1)}), [](const Plan& p) {
    return dim(p, 0, "T") < 50 || dim(p, 0, "T") >= 3000;
  });
  const std::string said = said_of(b, "T");
  EXPECT_EQ(said.rfind("T matters: fails with 1, ", 0), 0u) << said;
  EXPECT_NE(said.find(", 49, 4096; passes with 50, "), std::string::npos) << said;
}

// The largest value takes too long: the largest of its half, its quarter and so on that does not.
TEST(Bisect, TriesTheLargestValueThatTakesLittleWork) {
  TargetSpec spec = sample_spec();
  spec.dims[0].max = std::int64_t{1} << 40;
  const auto fails = [](const Plan& p) { return dim(p, 0, "T") < 50; };
  const auto b = bisected(sample_plan({call_step(49, 1)}), fails, 1, spec);
  const auto far = std::stoll(row_of(b, "T").tried.back().value);
  EXPECT_GT(far, 50000);
  EXPECT_LE(far, 500000);
}

// Each with the values 33, 34, ... that pass with the plan's own data and mode.
TEST(Bisect, SaysNoBoundWhereAPassingValueFailsOtherwise) {
  const auto bound = [](const FakeRunner::Rule& also, const Mode& mode = {},
                        const BisectOptions& options = {}) {
    FakeRunner runner([&](const Plan& p) { return dim(p, 0, "T") < 33 || also(p); });
    Prober prober(runner, {});
    Plan plan = sample_plan({call_step(32, 1)});
    plan.mode = mode;
    std::get<CallStep>(plan.steps[0]).call.seed = 1;
    return said_of(bisect(plan, sample_spec(), prober, options), "T");
  };
  const auto never = [](const Plan&) { return false; };
  EXPECT_EQ(bound(never).rfind("needs T < 33 among the values tried (", 0), 0u) << bound(never);
  const auto schedule = bound([](const Plan& p) { return p.mode.schedule_seed == 3; });
  EXPECT_EQ(schedule.rfind("T matters: fails with 1, ", 0), 0u) << schedule;
  EXPECT_NE(schedule.find("; also fails with 33 and schedule = 3"), std::string::npos);
  const auto data = bound([](const Plan& p) { return calls_of(p)[0]->call.seed % 3 == 0; });
  EXPECT_EQ(data.rfind("T matters: fails with 1, ", 0), 0u) << data;
  EXPECT_NE(data.find("; with other data 33 (2 of 6 seeds), 34 (2 of 6 seeds) also fails"),
            std::string::npos)
      << data;
  // What the oracle compares has no row, and 33 passes only with the plan's launch.
  Mode queued;
  queued.launch = Launch::async;
  BisectOptions by_oracle;
  by_oracle.axes.varied = {axis::kLaunch};
  const auto gated = [](const Plan& p) { return p.mode.launch == Launch::gated; };
  const auto launch = bound(gated, queued, by_oracle);
  EXPECT_EQ(launch.rfind("T matters: fails with 1, ", 0), 0u) << launch;
  EXPECT_NE(launch.find("; also fails with 33 with launch = gated"), std::string::npos) << launch;
  EXPECT_EQ(bound(never, queued, by_oracle).rfind("needs T < 33", 0), 0u);
}

// 1 of 7 seeds fails, so that six others that pass at 33 say little.
TEST(Bisect, SaysNoBoundWhereFewDataFail) {
  Plan plan = sample_plan({call_step(32, 1)});
  std::get<CallStep>(plan.steps[0]).call.seed = 8;
  const auto b = bisected(plan, [](const Plan& p) {
    return dim(p, 0, "T") < 33 && calls_of(p)[0]->call.seed % 8 == 0;
  });
  EXPECT_EQ(row_of(b, "data").necessary, true);
  EXPECT_EQ(said_of(b, "T").rfind("T matters: fails with 1, ", 0), 0u) << said_of(b, "T");
}

// All other seeds fail as well, because they are the same in both calls.
TEST(Bisect, TellsCallsThatNeedTheSameData) {
  const auto plan_of = [](std::uint64_t first, std::uint64_t second) {
    Plan plan = sample_plan({call_step(8, 1), call_step(8, 1)});
    std::get<CallStep>(plan.steps[0]).call.seed = first;
    std::get<CallStep>(plan.steps[1]).call.seed = second;
    return plan;
  };
  const auto equal = [](const Plan& p) {
    const auto calls = calls_of(p);
    return calls.size() == 2 && calls[0]->call.seed == calls[1]->call.seed;
  };
  const auto same = bisected(plan_of(1, 1), equal);
  EXPECT_EQ(row_of(same, "data").relevance(), Relevance::irrelevant);
  EXPECT_EQ(row_of(same, "same data").relevance(), Relevance::necessary);
  EXPECT_NE(sentence(same).find("needs the same data in all calls; passes with other data in each"),
            std::string::npos)
      << sentence(same);
  const auto different =
      bisected(plan_of(1, 2), [&](const Plan& p) { return calls_of(p).size() == 2 && !equal(p); });
  EXPECT_NE(sentence(different).find("needs calls with different data; passes with the same"),
            std::string::npos)
      << sentence(different);
  Plan three = plan_of(1, 1);
  three.steps.push_back(three.steps[0]);
  std::get<CallStep>(three.steps[2]).call.seed = 2;
  const auto some = bisected(three, [&](const Plan& p) {
    const auto calls = calls_of(p);
    return calls.size() == 3 && (calls[0]->call.seed != calls[1]->call.seed ||
                                 calls[0]->call.seed != calls[2]->call.seed);
  });
  EXPECT_NE(sentence(some).find("needs calls with different data; passes with the same"),
            std::string::npos)
      << sentence(some);
  const auto neither = bisected(plan_of(1, 2), [](const Plan&) { return true; });
  EXPECT_EQ(row_of(neither, "same data").relevance(), Relevance::irrelevant);
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
