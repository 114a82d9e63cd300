// Greedy descent over simplify(), like the reducer's, for failures whose minimum is known: the
// first candidate that still fails becomes the plan; results are cached by plan.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "core/plan_text.h"
#include "generators/plan_generator.h"
#include "generators/simplify.h"
#include "tests/generators/specs.h"

namespace redzone::generators {
namespace {

using redzone::testing::attention_spec;
using redzone::testing::chain_spec;
using redzone::testing::chunk_like_spec;
using redzone::testing::knob_predicate_spec;

using Fails = std::function<bool(const Plan&)>;

struct Descent {
  Plan plan;
  std::size_t evaluations = 0;  // distinct plans evaluated
};

Descent descend(Plan plan, const TargetSpec& spec, const Fails& fails) {
  std::map<std::string, bool> known;
  for (bool again = true; again;) {
    again = false;
    Simplifications candidates = simplify(plan, spec);
    while (auto candidate = candidates.next()) {
      const auto [it, is_new] = known.try_emplace(plan_hash(*candidate), false);
      if (is_new) it->second = fails(*candidate);
      if (!it->second) continue;
      plan = std::move(*candidate);
      again = true;
      break;
    }
  }
  return {std::move(plan), known.size()};
}

// Failing plans of about ten varied steps.
std::vector<Plan> failing_plans(const TargetSpec& spec, const Fails& fails, std::size_t count) {
  PlanGenerator generator(spec, host_budget(), 99);
  std::vector<Plan> plans;
  for (int tries = 0; plans.size() < count && tries < 200000; ++tries) {
    Plan plan = generator.next();
    const auto calls = calls_of(plan).size();
    if (calls >= 8 && calls <= 12 && fails(plan)) plans.push_back(std::move(plan));
  }
  EXPECT_EQ(plans.size(), count) << "the generator does not reach the failure";
  return plans;
}

Fails some_call(std::function<bool(const CallStep&)> fails) {
  return [fails = std::move(fails)](const Plan& plan) {
    const auto calls = calls_of(plan);
    return std::any_of(calls.begin(), calls.end(), [&](const CallStep* c) { return fails(*c); });
  };
}

std::int64_t dim(const CallStep& step, const char* name) {
  return get(step.call.dims, name);
}

struct Case {
  const char* name;
  TargetSpec spec;
  Fails fails;
  std::function<void(const Plan&)> expect;  // the exact minimum
};

// Expects one call with these dims, all other dims at 1, and everything else plain.
std::function<void(const Plan&)> one_call(Dims dims, std::int64_t repeat = 1) {
  return [dims, repeat](const Plan& plan) {
    ASSERT_EQ(plan.steps.size(), 1u);
    const auto& step = std::get<CallStep>(plan.steps[0]);
    for (const auto& [name, value] : step.call.dims) {
      const auto it = dims.find(name);
      EXPECT_EQ(value, it == dims.end() ? 1 : it->second) << name;
    }
    EXPECT_EQ(step.repeat, repeat);
    EXPECT_EQ(plan.mode, (Mode{.launch = Launch::blocking}));
  };
}

std::vector<Case> cases() {
  std::vector<Case> cases;
  auto add = [&](const char* name, Fails fails, std::function<void(const Plan&)> expect) {
    cases.push_back({name, chunk_like_spec(), std::move(fails), std::move(expect)});
  };
  add("T above 64", some_call([](const CallStep& s) { return dim(s, "T") > 64; }),
      one_call({{"T", 65}}));
  add("D not a power of two", some_call([](const CallStep& s) {
        return !std::has_single_bit(static_cast<std::uint64_t>(dim(s, "D")));
      }),
      one_call({{"D", 3}}));
  add("D one past a tile",
      some_call([](const CallStep& s) { return dim(s, "D") % 32 == 1 && dim(s, "D") > 1; }),
      one_call({{"D", 33}}));
  add("at least four chunks of 16", some_call([](const CallStep& s) {
        return dim(s, "C") >= 16 && dim(s, "T") / dim(s, "C") >= 4;
      }),
      one_call({{"C", 16}, {"T", 64}}));
  add("exactly two chunks", some_call([](const CallStep& s) {
        return dim(s, "C") > 4 && dim(s, "T") == 2 * dim(s, "C");
      }),
      one_call({{"C", 8}, {"T", 16}}));
  add("five repeats", some_call([](const CallStep& s) { return s.repeat >= 5; }), one_call({}, 5));
  add("padded",
      some_call([](const CallStep& s) { return s.call.layout("k").row_padding_elems > 2; }),
      [](const Plan& plan) {
        one_call({})(plan);
        EXPECT_EQ(std::get<CallStep>(plan.steps[0]).call.layouts,
                  (decltype(Call::layouts){{"k", Layout{.row_padding_elems = 3}}}));
      });
  add("knob and dim", some_call([](const CallStep& s) {
        return get_int(s.call.config, "num_warps") == 8 && dim(s, "DV") >= 20;
      }),
      [](const Plan& plan) {
        one_call({{"DV", 20}})(plan);
        const auto& config = std::get<CallStep>(plan.steps[0]).call.config;
        EXPECT_EQ(config, (Config{{"block_v", 32}, {"grid", "flat"}, {"num_warps", 8}}));
      });
  add(
      "two calls in a row with other C",
      [](const Plan& plan) {
        const auto calls = calls_of(plan);
        for (std::size_t i = 1; i < calls.size(); ++i)
          if (dim(*calls[i - 1], "C") != dim(*calls[i], "C")) return true;
        return false;
      },
      [](const Plan& plan) {
        const auto calls = calls_of(plan);
        ASSERT_EQ(plan.steps.size(), 2u);
        ASSERT_EQ(calls.size(), 2u);
        const bool first = dim(*calls[0], "C") == 1;
        const Dims small = {{"B", 1}, {"C", 1}, {"D", 1}, {"DV", 1}, {"H", 1}, {"T", 1}};
        Dims other = small;
        other["C"] = other["T"] = 2;
        EXPECT_EQ(calls[first ? 0 : 1]->call.dims, small);
        EXPECT_EQ(calls[first ? 1 : 0]->call.dims, other);
      });
  add(
      "a larger D after a smaller one",
      [](const Plan& plan) {
        const auto calls = calls_of(plan);
        for (std::size_t i = 1; i < calls.size(); ++i)
          if (dim(*calls[i], "D") > dim(*calls[i - 1], "D")) return true;
        return false;
      },
      [](const Plan& plan) {
        const auto calls = calls_of(plan);
        ASSERT_EQ(calls.size(), 2u);
        EXPECT_EQ(dim(*calls[0], "D"), 1);
        EXPECT_EQ(dim(*calls[1], "D"), 2);
      });
  add(
      "a sync between two calls",
      [](const Plan& plan) {
        for (std::size_t i = 2; i < plan.steps.size(); ++i)
          if (std::holds_alternative<CallStep>(plan.steps[i - 2]) &&
              std::holds_alternative<SyncStep>(plan.steps[i - 1]) &&
              std::holds_alternative<CallStep>(plan.steps[i]))
            return true;
        return false;
      },
      [](const Plan& plan) {
        ASSERT_EQ(plan.steps.size(), 3u);
        EXPECT_EQ(call_count(plan), 2);
      });
  return cases;
}

// A layout keeps only the part that the failure needs, at its smallest.
TEST(Descent, LayoutsOfAttentionBecomeDense) {
  const TargetSpec spec = attention_spec();
  const struct {
    std::function<bool(const Layout&)> fails;
    Layout smallest;
  } cases[] = {
      {[](const Layout& l) { return l.hnd; }, {.hnd = true}},
      {[](const Layout& l) { return l.slice_elems > 20; }, {.slice_elems = 24}},
      {[](const Layout& l) { return l.row_padding_elems > 0; }, {.row_padding_elems = 8}},
      {[](const Layout& l) { return l.broadcast_dim >= 0; }, {.broadcast_dim = 0}},
      {[](const Layout& l) { return l.reversed_dim >= 0; }, {.reversed_dim = 0}},
      {[](const Layout& l) { return l.unit_stride && *l.unit_stride < 0; }, {.unit_stride = -1}}};
  for (const auto& c : cases) {
    const auto fails = some_call([&](const CallStep& s) { return c.fails(s.call.layout("q")); });
    for (const auto& plan : failing_plans(spec, fails, 3)) {
      const Plan least = descend(plan, spec, fails).plan;
      ASSERT_EQ(least.steps.size(), 1u);
      EXPECT_EQ(std::get<CallStep>(least.steps[0]).call.layouts,
                (decltype(Call::layouts){{"q", c.smallest}}))
          << print_plan(least);
    }
  }
}

TEST(Descent, ReachesTheKnownMinimum) {
  for (const auto& c : cases()) {
    SCOPED_TRACE(c.name);
    std::size_t most = 0, sum = 0;
    constexpr std::size_t kPlans = 30;
    for (const auto& plan : failing_plans(c.spec, c.fails, kPlans)) {
      const Descent d = descend(plan, c.spec, c.fails);
      EXPECT_TRUE(c.fails(d.plan));
      c.expect(d.plan);
      if (HasFailure()) FAIL() << print_plan(d.plan);
      most = std::max(most, d.evaluations);
      sum += d.evaluations;
    }
    fmt::print("{:34} evaluations: mean {:3}, most {:3}\n", c.name, sum / kPlans, most);
    // From plans of 8 to 12 calls in 6 dims, 3 knobs and 3 layouts.
    EXPECT_LE(most, 150u);
    RecordProperty(c.name, static_cast<int>(most));
  }
}

// The minimum is not known, but the plan may not fail after any single step down.
TEST(Descent, EndsInAPlanThatIsMinimalInEachDim) {
  const TargetSpec spec = chunk_like_spec();
  const Fails fails =
      some_call([](const CallStep& s) { return dim(s, "T") * dim(s, "D") * dim(s, "DV") > 40000; });
  for (const auto& plan : failing_plans(spec, fails, 20)) {
    const Descent d = descend(plan, spec, fails);
    ASSERT_EQ(d.plan.steps.size(), 1u);
    for (const char* name : {"T", "D", "DV"}) {
      Plan smaller = d.plan;
      auto& call = std::get<CallStep>(smaller.steps[0]).call;
      EXPECT_EQ(get(call.dims, "C"), 1);
      --call.dims.find(name)->second;
      EXPECT_FALSE(fails(smaller)) << print_plan(d.plan);
    }
  }
}

// The third launch of one shape fails because of state that the second left behind; a smaller shape
// leaves the same state after one launch. No launch can be dropped, and no dim can be lowered in
// all three at once.
TEST(Descent, FindsASmallerCallThatDoesWhatRepeatsDid) {
  TargetSpec spec;
  spec.name = "counter";
  spec.dims = {{.name = "N", .min = 1, .max = 1024, .tile = 32}};
  const Fails fails = [](const Plan& plan) {
    std::int64_t counter = 0;  // counts tiles, wraps after N / 32
    for (const auto* step : calls_of(plan))
      for (std::int64_t i = 0; i < step->repeat; ++i) {
        const std::int64_t n = dim(*step, "N"), tiles = (n + 31) / 32;
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
          if (counter == tiles - 1 && tile < tiles - 1) return true;
          counter = counter >= n / 32 ? 0 : counter + 1;
        }
      }
    return false;
  };
  Plan plan;
  plan.target = spec.name;
  CallStep step;
  step.call.dims = {{"N", 64}};
  step.repeat = 3;
  plan.steps = {step};
  ASSERT_TRUE(fails(plan));
  const Descent d = descend(plan, spec, fails);
  const auto calls = calls_of(d.plan);
  ASSERT_EQ(calls.size(), 2u) << print_plan(d.plan);
  EXPECT_EQ(dim(*calls[0], "N"), 32);
  EXPECT_EQ(dim(*calls[1], "N"), 33);
}

// Offsets that do not fit 31 bits reduce to two rows of one element with the smallest pitch.
TEST(Descent, KeepsTheReachOfABigPaddingWhileItLosesRows) {
  TargetSpec spec;
  spec.name = "rows";
  spec.dims = {{.name = "M", .min = 1, .max = 512}, {.name = "N", .min = 1, .max = 512}};
  spec.tensors = {{.name = "x",
                   .dtype = DType::u8,
                   .shape = shape_of({"M", "N"}),
                   .layouts = LayoutRules::strided()}};
  const Fails fails = some_call([&](const CallStep& s) {
    const auto& layout = s.call.layout("x");
    const std::int64_t pitch = dim(s, "N") + layout.row_padding_elems;
    const std::int64_t last = (dim(s, "M") - 1) * pitch + dim(s, "N") - 1;
    return !layout.transposed && last >= std::int64_t{1} << 31;
  });
  std::size_t most = 0;
  for (const auto& plan : failing_plans(spec, fails, 10)) {
    const Descent d = descend(plan, spec, fails);
    most = std::max(most, d.evaluations);
    ASSERT_EQ(d.plan.steps.size(), 1u);
    const auto& step = std::get<CallStep>(d.plan.steps[0]);
    EXPECT_EQ(dim(step, "M"), 2);
    EXPECT_EQ(dim(step, "N"), 1);
    EXPECT_EQ(step.call.layout("x"), (Layout{.row_padding_elems = (std::int64_t{1} << 31) - 1}));
  }
  fmt::print("big offsets: evaluations: most {}\n", most);
  EXPECT_LE(most, 250u);
}

TEST(Descent, RespectsChainsOfConstraints) {
  const TargetSpec spec = chain_spec();
  const Fails fails = some_call([](const CallStep& s) { return dim(s, "A") >= 10; });
  int at_least = 0;
  for (const auto& plan : failing_plans(spec, fails, 20)) {
    const Descent d = descend(plan, spec, fails);
    const auto& step = std::get<CallStep>(d.plan.steps.at(0));
    // A >= 10 divides B, a multiple of 4, which divides C, a multiple of 8. The least sum of ranks
    // is 12, 12 and 24. With A = 10, B and C are 20 and 40, and no single step down leads from
    // there to the minimum.
    const Dims least = {{"A", 12}, {"B", 12}, {"C", 24}, {"E", 0}};
    const Dims local = {{"A", 10}, {"B", 20}, {"C", 40}, {"E", 0}};
    at_least += step.call.dims == least;
    EXPECT_TRUE(step.call.dims == least || step.call.dims == local) << print_plan(d.plan);
  }
  EXPECT_GE(at_least, 10);
}

// No single dim can go down: a failure of square shapes passes as soon as one differs.
TEST(Descent, LowersDimsTogetherThatMustBeEqual) {
  TargetSpec spec;
  spec.name = "square";
  spec.dims = {{.name = "K", .max = 12}, {.name = "M", .max = 12}, {.name = "N", .max = 12}};
  spec.tensors = {{.name = "x", .shape = shape_of({"K", "M"})},
                  {.name = "y", .role = Role::out, .shape = shape_of({"M", "N"})}};
  const auto two = [](const CallStep& s) { return dim(s, "M") > 1 && dim(s, "M") == dim(s, "N"); };
  for (const auto& plan : failing_plans(spec, some_call(two), 20)) {
    const Descent d = descend(plan, spec, some_call(two));
    const auto& step = std::get<CallStep>(d.plan.steps.at(0));
    EXPECT_EQ(step.call.dims, (Dims{{"K", 1}, {"M", 2}, {"N", 2}})) << print_plan(d.plan);
  }
  const auto three = [&](const CallStep& s) { return two(s) && dim(s, "K") == dim(s, "M"); };
  for (const auto& plan : failing_plans(spec, some_call(three), 20)) {
    const Descent d = descend(plan, spec, some_call(three));
    const auto& step = std::get<CallStep>(d.plan.steps.at(0));
    EXPECT_EQ(step.call.dims, (Dims{{"K", 2}, {"M", 2}, {"N", 2}})) << print_plan(d.plan);
  }
}

// As where a cache has one key for (R, C) and (C, R): the dims of the two calls differ, and no
// change of one call keeps them swapped.
TEST(Descent, LowersAValueThatOtherDimsOfOtherCallsMustEqual) {
  TargetSpec spec;
  spec.name = "keyed";
  spec.dims = {{.name = "R", .min = 1, .max = 64}, {.name = "C", .min = 1, .max = 64}};
  spec.tensors = {{.name = "y", .role = Role::out, .shape = shape_of({"R", "C"})}};
  const auto fails = [](const Plan& plan) {
    const auto calls = calls_of(plan);
    for (std::size_t i = 1; i < calls.size(); ++i)
      if (dim(*calls[i - 1], "R") == dim(*calls[i], "C") &&
          dim(*calls[i - 1], "C") == dim(*calls[i], "R") &&
          dim(*calls[i], "R") != dim(*calls[i], "C"))
        return true;
    return false;
  };
  Plan plan;
  plan.target = spec.name;
  for (const auto& [r, c] : {std::pair{16, 3}, std::pair{3, 16}}) {
    CallStep step;
    step.call.dims = {{"R", r}, {"C", c}};
    step.call.seed = 1;
    plan.steps.emplace_back(std::move(step));
  }
  const Plan smallest = descend(plan, spec, fails).plan;
  const auto calls = calls_of(smallest);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(dim(*calls[0], "R") * dim(*calls[0], "C"), 2);
}

// A predicate forbids every other value; descent skips those.
TEST(Descent, StepsOverValuesThatAPredicateForbids) {
  const TargetSpec spec = knob_predicate_spec();
  const Fails fails = some_call([](const CallStep& s) { return dim(s, "N") > 50; });
  for (const auto& plan : failing_plans(spec, fails, 20)) {
    const Descent d = descend(plan, spec, fails);
    const auto& step = std::get<CallStep>(d.plan.steps.at(0));
    const bool odd = get_str(step.call.config, "mode") == "odd";
    EXPECT_EQ(step.call.dims, (Dims{{"M", 1}, {"N", odd ? 51 : 52}})) << print_plan(d.plan);
  }
}

}  // namespace
}  // namespace redzone::generators
