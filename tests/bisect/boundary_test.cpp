#include "bisect/boundary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "bisect/fakes.h"

namespace redzone::bisect {
namespace {

using testing::call_step;
using testing::FakeRunner;
using testing::sample_plan;
using Rule = std::function<bool(std::int64_t)>;

TargetSpec wide_spec() {
  TargetSpec spec = testing::sample_spec();
  spec.dims[0] = {.name = "T", .min = 0, .max = 100000, .tile = 48};
  spec.dims[1] = {.name = "C", .values = {1, 2}};
  spec.constraints.clear();
  return spec;
}

Boundary boundary(std::int64_t failing, const Rule& fails, double rate = 1,
                  const ProbeBudget& budget = {}, const Memory& memory = {}) {
  FakeRunner runner([&](const Plan& p) { return fails(get(calls_of(p).back()->call.dims, "T")); },
                    rate);
  Prober prober(runner, budget, memory);
  auto found = find_boundary(sample_plan({call_step(failing, 1)}), wide_spec(), "T", prober, {});
  EXPECT_TRUE(found);
  return *found;
}

std::string rule_text(const Boundary& b) {
  return b.rule ? b.rule->text("T") : "none";
}

TEST(Boundary, FindsAThresholdExactly) {
  const auto b = boundary(9000, [](std::int64_t t) { return t >= 8192; });
  EXPECT_EQ(rule_text(b), "fails for T >= 8192");
  ASSERT_NE(b.sample(8191), nullptr);
  EXPECT_EQ(b.sample(8191)->probe.answer, Answer::passes);
  EXPECT_NE(sentence(b).find("8191 passes"), std::string::npos) << sentence(b);
  // The same, cut off.
  Boundary half = b;
  half.complete = false;
  EXPECT_EQ(sentence(half).rfind("so far: ", 0), 0u) << sentence(half);
  EXPECT_EQ(sentence(Boundary{}), "Unknown: no run was judged.");
  EXPECT_EQ(rule_text(boundary(7, [](std::int64_t t) { return t <= 1234; })), "fails for T <= 1234")
      << "the largest value is tried, too";
}

// Some data fails with any value, that of the plan from 64 on alone.
TEST(Boundary, SaysThatAValuePassesOnlyForWhatTheDataIs) {
  FakeRunner runner([](const Plan& p) {
    const Call& call = calls_of(p).back()->call;
    return get(call.dims, "T") >= 64 || call.seed % 3 == 0;
  });
  Prober prober(runner, {}, {});
  Plan plan = sample_plan({call_step(100, 1)});
  std::get<CallStep>(plan.steps[0]).call.seed = 1;
  const auto b = find_boundary(plan, wide_spec(), "T", prober, {});
  ASSERT_TRUE(b);
  EXPECT_EQ(rule_text(*b), "fails for T >= 64");
  EXPECT_EQ(b->only_this_data, (std::vector<std::int64_t>{63, 62}));
  EXPECT_NE(sentence(*b).find("; with other data 63, 62 also fails"), std::string::npos)
      << sentence(*b);
}

TEST(Boundary, SaysThatAValuePassesOnlyInThisSchedule) {
  FakeRunner runner([](const Plan& p) {
    return get(calls_of(p).back()->call.dims, "T") >= 64 || p.mode.schedule_seed == 2;
  });
  Prober prober(runner, {}, {});
  const auto b = find_boundary(sample_plan({call_step(100, 1)}), wide_spec(), "T", prober, {});
  ASSERT_TRUE(b);
  EXPECT_EQ(b->only_this_schedule, (std::vector<std::int64_t>{63}));
  EXPECT_EQ(sentence(*b).rfind("with this schedule: fails for T >= 64; ", 0), 0u) << sentence(*b);
  BoundaryOptions options;
  options.axes.varied = {axis::kSchedule};
  const auto by_oracle =
      find_boundary(sample_plan({call_step(100, 1)}), wide_spec(), "T", prober, options);
  EXPECT_EQ(by_oracle->only_this_schedule, std::vector<std::int64_t>{});
}

TEST(Boundary, OfOneEndNamesTheValue) {
  EXPECT_EQ(rule_text(boundary(0, [](std::int64_t t) { return t == 0; })), "fails for T = 0");
  EXPECT_EQ(rule_text(boundary(100000, [](std::int64_t t) { return t == 100000; })),
            "fails for T = 100000");
  EXPECT_EQ(rule_text(boundary(1, [](std::int64_t t) { return t <= 1; })), "fails for T <= 1");
}

TEST(Boundary, OfFewValuesTriesAll) {
  TargetSpec spec = wide_spec();
  spec.dims[0] = {.name = "T", .min = 1, .max = 60};
  const auto fails = [](std::int64_t t) { return t == 1 || t % 23 == 0; };
  FakeRunner runner([&](const Plan& p) { return fails(get(calls_of(p)[0]->call.dims, "T")); });
  Prober prober(runner, {});
  const auto b = find_boundary(sample_plan({call_step(1, 1)}), spec, "T", prober, {});
  ASSERT_TRUE(b);
  EXPECT_EQ(b->samples.size(), 60u);
  EXPECT_FALSE(b->rule) << sentence(*b);
}

// A single value that fails may be one of a class, whose next would be missed by the samples.
TEST(Boundary, TriesWhetherASingleValueIsOneOfAClass) {
  for (std::int64_t modulus = 2; modulus <= 32; ++modulus) {
    const auto b = boundary(1, [&](std::int64_t t) { return t % modulus == 1; });
    EXPECT_EQ(rule_text(b), fmt::format("fails for T % {} = 1", modulus));
  }
}

// Nothing is known of what lies between the samples, so the sentence says where they are.
TEST(Boundary, SaysWhichValuesWereTried) {
  const auto some = boundary(7, [](std::int64_t t) { return t % 2 == 1; });
  EXPECT_NE(sentence(some).find(" of 257 values tried, from 0 to 256, and 100000; "),
            std::string::npos)
      << sentence(some);
  const auto more = boundary(7, [](std::int64_t t) { return t <= 1234; });
  EXPECT_NE(sentence(more).find(" up to 100000; "), std::string::npos) << sentence(more);
  const auto all = boundary(7, [](std::int64_t) { return true; });
  EXPECT_EQ(sentence(all).rfind("fails for every T tried. ", 0), 0u) << sentence(all);
}

TEST(Boundary, LooksPastAFailureThatEveryValueShows) {
  FakeRunner runner([](const Plan& p) { return get(calls_of(p).back()->call.dims, "T") >= 64; });
  runner.fails_otherwise = [](const Plan&) { return true; };
  Prober prober(runner, {}, {});
  const auto b = find_boundary(sample_plan({call_step(100, 1)}), wide_spec(), "T", prober, {});
  ASSERT_TRUE(b);
  EXPECT_EQ(rule_text(*b), "fails for T >= 64");
  EXPECT_EQ(b->background, "reference: y (t)");
  EXPECT_NE(sentence(*b).find("; 63 fails otherwise (0/"), std::string::npos) << sentence(*b);
  EXPECT_NE(sentence(*b).find("what ends this failure fails as 'reference: y (t)'"),
            std::string::npos)
      << sentence(*b);
}

TEST(Boundary, FindsAThresholdAnywhere) {
  EXPECT_TRUE(rc::check("up to the unit", [] {
    const auto threshold = *rc::gen::inRange<std::int64_t>(2, 20000);
    const auto above = *rc::gen::inRange<std::int64_t>(0, 3000);
    const auto b = boundary(threshold + above, [&](std::int64_t t) { return t >= threshold; });
    RC_ASSERT(rule_text(b) == fmt::format("fails for T >= {}", threshold));
  }));
}

TEST(Boundary, FindsARange) {
  EXPECT_EQ(rule_text(boundary(300, [](std::int64_t t) { return t >= 257 && t <= 511; })),
            "fails for 257 <= T <= 511");
}

TEST(Boundary, FindsClassesWhereThereIsNoThreshold) {
  EXPECT_EQ(rule_text(boundary(3, [](std::int64_t t) { return t % 4 == 3; })),
            "fails for T % 4 = 3");
  EXPECT_EQ(rule_text(boundary(5, [](std::int64_t t) { return t % 16 != 0; })),
            "fails for T that is not a multiple of 16");
  EXPECT_EQ(rule_text(boundary(64, [](std::int64_t t) { return t % 16 == 0; })),
            "fails for T % 16 = 0");
  EXPECT_EQ(rule_text(boundary(50, [](std::int64_t t) { return t % 48 != 0; })),
            "fails for T that is not a multiple of 48")
      << "the tile";
  EXPECT_EQ(rule_text(boundary(64, [](std::int64_t t) { return t > 0 && (t & (t - 1)) == 0; })),
            "fails for T that is a power of two");
}

TEST(Boundary, FindsAClassBeyondAThreshold) {
  const auto b = boundary(130, [](std::int64_t t) { return t >= 100 && t % 2 == 0; });
  ASSERT_TRUE(b.rule);
  EXPECT_EQ(b.rule->modulus, 2);
  EXPECT_EQ(b.rule->least, 100);
}

// A power of two, and multiples of one, are not all of a class of which they are members.
TEST(Boundary, FindsTheSmallestModulusBeyondAThreshold) {
  EXPECT_EQ(rule_text(boundary(128, [](std::int64_t t) { return t % 16 == 0 && t > 64; })),
            "fails for T % 16 = 0 and T >= 80");
  EXPECT_EQ(rule_text(boundary(65, [](std::int64_t t) { return t % 13 == 0 && t > 40; })),
            "fails for T % 13 = 0 and T >= 52");
}

// The largest value that is tried for the failing one.
std::int64_t reached(std::int64_t failing) {
  return std::max<std::int64_t>(4 * failing, 256);
}

TEST(Boundary, OfARemainderBeyondAThresholdSaysThatOrNothing) {
  int found = 0, all = 0;
  EXPECT_TRUE(rc::check("for all moduli", [&] {
    const auto modulus = *rc::gen::inRange<std::int64_t>(2, 100);
    const auto remainder = *rc::gen::inRange<std::int64_t>(0, modulus);
    const auto beyond = *rc::gen::inRange<std::int64_t>(0, 500);
    const auto fails = [&](std::int64_t t) { return t % modulus == remainder && t > beyond; };
    auto failing = beyond + 1 + modulus * *rc::gen::inRange<std::int64_t>(0, 4);
    while (!fails(failing)) ++failing;
    const auto b = boundary(failing, fails);
    ++all;
    if (!b.rule) return;
    ++found;
    for (std::int64_t t = 0; t <= reached(failing); ++t)
      if (b.rule->fails(t) != fails(t)) RC_FAIL(fmt::format("{}: {}", rule_text(b), t));
  }));
  EXPECT_GT(2 * found, all) << "most are found";
}

// Of a union of classes, for instance, the search may see one, and no sample tells of the other. So
// a rule can be wrong where no sample is, but seldom is.
TEST(Boundary, OfASmallDimIsSeldomWrongAnywhere) {
  constexpr std::int64_t kLargest = 200;
  TargetSpec spec = wide_spec();
  spec.dims[0] = {.name = "T", .min = 1, .max = kLargest};
  int wrong = 0, stated = 0, all = 0;
  EXPECT_TRUE(rc::check("for classes, ranges and unions of these", [&] {
    const auto a = *rc::gen::inRange<std::int64_t>(2, 30),
               c = *rc::gen::inRange<std::int64_t>(2, 9);
    const auto low = *rc::gen::inRange<std::int64_t>(1, 100);
    const auto form = *rc::gen::inRange(0, 6);
    const auto fails = [&](std::int64_t t) {
      switch (form) {
        case 0:
          return t % a == 1;
        case 1:
          return t % 2 == 1 && t >= low;
        case 2:
          return t % a == 0 || t % c == 1;
        case 3:
          return t < low || t > low + 80;
        case 4:
          return t % 8 == a % 8 || t % 8 == c % 8;
        default:
          return t % a != 0 && t < low + 50;
      }
    };
    std::int64_t failing = 1;
    while (failing < kLargest && !fails(failing)) ++failing;
    RC_PRE(fails(failing));
    FakeRunner runner([&](const Plan& p) { return fails(get(calls_of(p)[0]->call.dims, "T")); });
    Prober prober(runner, {});
    const auto b = find_boundary(sample_plan({call_step(failing, 1)}), spec, "T", prober, {});
    ++all;
    if (!b || !b->rule) return;
    ++stated;
    for (std::int64_t t = 1; t <= kLargest; ++t)
      if (b->rule->fails(t) != fails(t)) {
        ++wrong;
        break;
      }
  }));
  EXPECT_GE(3 * stated, all) << "not by saying nothing";
  EXPECT_LE(5 * wrong, stated);
}

// The values that the samples of a rule contradict, decided or not.
std::vector<std::int64_t> contradicted(const Boundary& b) {
  std::vector<std::int64_t> out;
  for (const auto& s : b.samples)
    if (b.rule && s.probe.counts.judged() > 0 &&
        b.rule->fails(s.value) != (s.probe.counts.same > 0))
      out.push_back(s.value);
  return out;
}

TEST(Boundary, NoRuleContradictsASampleThatWasRunOrStored) {
  EXPECT_TRUE(rc::check("whatever fails, and whenever the time ends", [] {
    const auto a = *rc::gen::inRange<std::int64_t>(2, 70),
               c = *rc::gen::inRange<std::int64_t>(2, 70);
    const auto least = *rc::gen::inRange<std::int64_t>(0, 300);
    const auto fails = [&](std::int64_t t) { return (t % a == 1 || t % c == 0) && t >= least; };
    auto failing = least;
    while (!fails(failing)) ++failing;
    Memory stored;
    for (const auto t :
         *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 256))) {
      auto& counts = stored[plan_hash(sample_plan({call_step(t, 1)}))];
      (fails(t) ? counts.same : counts.passed) = 30;
    }
    // With fewer the rate of the failure is not known, and 30 passes decide nothing.
    const auto runs = *rc::gen::inRange<std::int64_t>(8, 2000);
    const auto b = boundary(failing, fails, 1, {.runs = runs}, stored);
    RC_ASSERT(contradicted(b).empty());
    for (const auto& [hash, counts] : stored) {
      const auto known = [&, &hash = hash](const DimSample& s) {
        return plan_hash(sample_plan({call_step(s.value, 1)})) == hash;
      };
      RC_ASSERT(b.base.answer != Answer::fails ||
                std::any_of(b.samples.begin(), b.samples.end(), known));
    }
  }));
}

// Most values make no plan, and none of the rest contradicts the rule.
TEST(Boundary, ARuleStandsWhereConstraintsForbidMostValues) {
  TargetSpec sparse = wide_spec();
  sparse.dims[0] = {.name = "T", .min = 1, .max = 4096};
  sparse.constraints = {
      Constraint::predicate("T is a multiple of 128",
                            [](const Dims& d, const Config&) { return get(d, "T") % 128 == 0; })};
  TargetSpec listed = sparse;
  listed.dims[0] = {.name = "T", .values = {64, 96, 128, 256, 384}};
  for (const TargetSpec& spec : {sparse, listed}) {
    FakeRunner runner([](const Plan& p) { return get(calls_of(p).back()->call.dims, "T") >= 256; });
    Prober prober(runner, {});
    const auto b = find_boundary(sample_plan({call_step(384, 1)}), spec, "T", prober, {});
    ASSERT_TRUE(b && b->rule) << (b ? sentence(*b) : b.error().message);
    EXPECT_FALSE(b->rule->fails(128)) << sentence(*b);
    EXPECT_TRUE(b->rule->fails(256)) << sentence(*b);
  }
}

// 144 is no value that the search would try.
TEST(Boundary, BeginsWithWhatIsStored) {
  Memory stored;
  stored[plan_hash(sample_plan({call_step(144, 1)}))] = {.same = 1};
  const auto b = boundary(
      128, [](std::int64_t t) { return t % 16 == 0 && t > 64; }, 1, {}, stored);
  ASSERT_NE(b.sample(144), nullptr);
  EXPECT_EQ(b.sample(144)->probe.counts.runs(), 1);
  EXPECT_EQ(rule_text(b), "fails for T % 16 = 0 and T >= 80");
}

TEST(Boundary, ARepeatedSearchRunsNothing) {
  for (const std::int64_t modulus : {3, 16, 37, 128}) {
    FakeRunner runner([&](const Plan& p) {
      const auto t = get(calls_of(p).back()->call.dims, "T");
      return t % modulus == 0 && t > 64;
    });
    Memory memory;
    const Record record = [&](const Plan& plan, const Counts& counts) -> Result<void> {
      memory[plan_hash(plan)].add(counts);
      return {};
    };
    const Plan plan = sample_plan({call_step(modulus * 30, 1)});
    Prober first(runner, {}, {}, record);
    const auto once = find_boundary(plan, wide_spec(), "T", first, {});
    const auto runs = runner.runs;
    Prober second(runner, {}, memory, record);
    const auto again = find_boundary(plan, wide_spec(), "T", second, {});
    EXPECT_EQ(runner.runs, runs) << modulus;
    EXPECT_EQ(sentence(*again), sentence(*once));
  }
}

TEST(Boundary, WhoseTimeEndsNamesTheUndecidedValues) {
  const auto fails = [](std::int64_t t) { return t % 3 == 0; };
  const auto b = boundary(9, fails, 1, {.runs = 60});
  EXPECT_FALSE(b.complete);
  EXPECT_FALSE(b.rule) << rule_text(b);
  const std::string said = sentence(b);
  EXPECT_EQ(said.rfind("no rule for T so far: fails with 0, 3, 9, 15", 0), 0u) << said;
  EXPECT_NE(said.find("passes with nothing; not yet decided: 1, 2, 4"), std::string::npos) << said;
}

TEST(Boundary, TriesTheValuesOfOtherCalls) {
  FakeRunner runner([](const Plan& p) { return get(calls_of(p).back()->call.dims, "T") != 5001; });
  Prober prober(runner, {});
  const auto plan = sample_plan({call_step(5001, 1), call_step(7, 1)});
  const auto b = find_boundary(plan, wide_spec(), "T", prober, {});
  ASSERT_TRUE(b);
  ASSERT_NE(b->sample(5001), nullptr);
  EXPECT_EQ(b->sample(5001)->probe.answer, Answer::passes);
  ASSERT_NE(b->sample(5002), nullptr);
  EXPECT_EQ(b->sample(5002)->probe.answer, Answer::fails);
}

// 109 is all that the first samples hit of 5 modulo 13 above 100.
TEST(Boundary, APointBetweenPassesIsNoRange) {
  EXPECT_FALSE(fit_rule({{1, false}, {108, false}, {109, true}, {110, false}}, 0));
  EXPECT_FALSE(fit_rule({{1, false}, {64, true}, {65, false}, {128, false}}, 0));
  EXPECT_TRUE(fit_rule({{1, false}, {8, true}, {9, true}, {10, true}, {11, false}}, 0));
  EXPECT_EQ(fit_rule({{1, true}, {2, false}, {3, false}}, 0)->text("T"), "fails for T <= 1");
}

TEST(Boundary, SaysWhenThereIsNoSimpleRule) {
  const auto b = boundary(0, [](std::int64_t t) { return (t * 2654435761u >> 7) % 3 == 0; });
  EXPECT_FALSE(b.rule);
  EXPECT_NE(sentence(b).find("No simple rule"), std::string::npos);
}

TEST(Boundary, OfAFlakyFailureIsTheSame) {
  for (const double rate : {0.5, 0.2})
    EXPECT_EQ(rule_text(boundary(
                  9000, [](std::int64_t t) { return t >= 8192; }, rate)),
              "fails for T >= 8192")
        << rate;
}

TEST(Boundary, OfAnUnknownDimOrCallIsAUsageError) {
  FakeRunner runner([](const Plan&) { return true; });
  Prober prober(runner, {});
  const Plan plan = sample_plan({call_step(4, 1)});
  const auto dim = find_boundary(plan, wide_spec(), "TT", prober, {});
  ASSERT_FALSE(dim);
  EXPECT_NE(dim.error().message.find("did you mean 'T'"), std::string::npos);
  EXPECT_FALSE(find_boundary(plan, wide_spec(), "T", prober, {.call = 2}));
  EXPECT_EQ(runner.runs, 0);
}

}  // namespace
}  // namespace redzone::bisect
