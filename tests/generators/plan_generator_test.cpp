#include "generators/plan_generator.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>

#include "core/plan_text.h"
#include "core/validate.h"
#include "generators/dims.h"
#include "generators/internal/cost.h"
#include "generators/internal/draw.h"
#include "generators/internal/plan_gen.h"
#include "tests/generators/specs.h"

namespace redzone::generators {
namespace {

using redzone::testing::awkward_specs;
using redzone::testing::chunk_like_spec;

// Computed independently of the generator, from the views of the tensors.
Cost total_cost(const Plan& plan, const TargetSpec& spec, bool sparse) {
  Cost total;
  for (const auto* step : calls_of(plan)) {
    Cost cost;
    double numel = 0;
    for (const auto& tensor : spec.tensors) {
      const auto view = make_view(tensor.shape_for(step->call.dims, step->call.config),
                                  step->call.layout(tensor.name));
      numel += static_cast<double>(view->numel);
      cost.bytes += static_cast<double>(sparse ? view->numel : view->storage_elems) *
                    static_cast<double>(dtype_bytes(tensor.dtype_for(step->call.config)));
    }
    cost.work = spec.work ? spec.work(step->call.dims, step->call.config) : numel;
    total.work += cost.work * static_cast<double>(step->repeat);
    // The repeats of a burst, and replays, use the same buffers.
    const bool burst = step->repeat >= 1000;
    total.bytes += cost.bytes * static_cast<double>(burst ? 1 : step->repeat);
    if (step->graph == 0) continue;
    for (const auto& s : plan.steps)
      if (const auto* replay = std::get_if<ReplayStep>(&s);
          replay != nullptr && replay->graph == step->graph)
        total.work += cost.work * static_cast<double>(replay->repeat);
  }
  return total;
}

void expect_within(const Plan& plan, const TargetSpec& spec, const Budget& budget) {
  const Cost cost = total_cost(plan, spec, budget.sparse);
  EXPECT_LE(cost.work, budget.work_per_plan + budget.large_work);
  EXPECT_LE(cost.bytes, static_cast<double>(budget.bytes_per_plan + budget.large_bytes));
  EXPECT_LE(call_count(plan), budget.max_calls + budget.burst);
  EXPECT_GE(call_count(plan), 1);
}

// Holds for the first call of a plan and for later calls that switch a knob.
TEST(PlanGenerator, DrawsOnlyTheValuesThatAreDrawn) {
  TargetSpec spec = chunk_like_spec();
  spec.knobs = {{.name = "tile", .values = {1, 2, 3}, .drawn = 2},
                {.name = "rule", .values = {"right", "wrong"}, .drawn = 1}};
  PlanGenerator generator(spec, host_budget(), 1);
  std::set<std::int64_t> tiles;
  for (int i = 0; i < 300; ++i) {
    const Plan plan = generator.next();
    for (const auto* step : calls_of(plan)) {
      tiles.insert(get_int(step->call.config, "tile"));
      ASSERT_EQ(get_str(step->call.config, "rule"), "right") << print_plan(plan);
    }
  }
  EXPECT_EQ(tiles, (std::set<std::int64_t>{1, 2}));
}

TEST(PlanGenerator, PlansAreValidAndWithinTheBudget) {
  Budget plain = host_budget();
  plain.streams = plain.graphs = false;
  plain.burst = 0;
  for (const auto& budget : {host_budget(), gpu_budget(std::int64_t{80} << 30), plain}) {
    for (const auto& spec : awkward_specs()) {
      PlanGenerator generator(spec, budget, 1);
      for (int i = 0; i < 1500; ++i) {
        const Plan plan = generator.next();
        const auto valid = validate(plan, spec);
        ASSERT_TRUE(valid) << valid.error().message << "\n" << print_plan(plan);
        expect_within(plan, spec, budget);
      }
    }
  }
}

TEST(PlanGenerator, EachPlanHasACallWithoutADimOfZero) {
  TargetSpec spec;
  spec.name = "often_empty";
  for (const char* name : {"A", "B", "C"}) spec.dims.push_back({.name = name, .min = 0, .max = 3});
  spec.dims.push_back({.name = "Z", .min = 0, .max = 0});  // can be nothing else
  spec.tensors = {{.name = "y", .role = Role::out, .shape = shape_of({"A", "B", "C"})}};
  PlanGenerator generator(spec, host_budget(), 1);
  int begin_empty = 0;
  for (int i = 0; i < 500; ++i) {
    const Plan plan = generator.next();
    const auto calls = calls_of(plan);
    const auto works = [](const CallStep* step) {
      const Dims& dims = step->call.dims;
      return get(dims, "A") > 0 && get(dims, "B") > 0 && get(dims, "C") > 0;
    };
    EXPECT_TRUE(std::any_of(calls.begin(), calls.end(), works)) << print_plan(plan);
    begin_empty += !works(calls.front());
  }
  EXPECT_GT(begin_empty, 50);
}

TEST(PlanGenerator, PlansSurviveTheirTextForm) {
  for (const auto& spec : awkward_specs()) {
    PlanGenerator generator(spec, host_budget(), 2);
    for (int i = 0; i < 100; ++i) {
      const Plan plan = generator.next();
      const auto parsed = parse_plan(print_plan(plan));
      ASSERT_TRUE(parsed) << parsed.error().message;
      EXPECT_EQ(*parsed, plan);
    }
  }
}

TEST(PlanGenerator, TheSeedDecides) {
  const TargetSpec spec = chunk_like_spec();
  PlanGenerator a(spec, host_budget(), 7), b(spec, host_budget(), 7), c(spec, host_budget(), 8);
  int differ = 0;
  for (int i = 0; i < 200; ++i) {
    const Plan plan = a.next();
    EXPECT_EQ(plan, b.next());
    differ += plan != c.next();
  }
  EXPECT_GT(differ, 190);
}

// The same plans on every machine, so that a seed in a report can be used elsewhere. The hash
// changes only with the generators.
TEST(PlanGenerator, ASeedGivesTheSamePlansOnEveryMachine) {
  Plan all;  // the steps of many plans, hashed as one plan
  for (const auto& spec : awkward_specs()) {
    PlanGenerator generator(spec, host_budget(), 7);
    for (int i = 0; i < 100; ++i) {
      Plan plan = generator.next();
      all.mode.schedule_seed ^= plan.mode.schedule_seed;
      std::move(plan.steps.begin(), plan.steps.end(), std::back_inserter(all.steps));
    }
  }
  EXPECT_EQ(plan_hash(all), "f374386fbc462c74217a8467bbdb8cbe");
}

// RapidCheck's own entry points read RC_PARAMS.
TEST(PlanGenerator, TheEnvironmentDoesNotDecide) {
  const TargetSpec spec = chunk_like_spec();
  const Plan before = PlanGenerator(spec, host_budget(), 7).next();
  ASSERT_EQ(setenv("RC_PARAMS", "seed=1 max_size=3", 1), 0);
  const Plan after = PlanGenerator(spec, host_budget(), 7).next();
  unsetenv("RC_PARAMS");
  EXPECT_EQ(before, after);
}

TEST(PlanGenerator, FillsTheStackInOnePlanOfSixAndChangesNothingElse) {
  const TargetSpec spec = chunk_like_spec();
  Budget without = host_budget();
  without.stacks = false;
  PlanGenerator generator(spec, host_budget(), 5), other(spec, without, 5);
  std::map<Stack, int> count;
  for (int i = 0; i < 600; ++i) {
    Plan plan = generator.next();
    ++count[plan.mode.stack];
    plan.mode.stack = Stack::as_left;
    EXPECT_EQ(plan, other.next());
  }
  EXPECT_NEAR(count[Stack::filled], 50, 25);
  EXPECT_NEAR(count[Stack::filled_finite], 50, 25);
}

TEST(PlanGenerator, TheModeIsTheDefaultButForPoisonAndSchedule) {
  const TargetSpec spec = chunk_like_spec();
  Budget budget = host_budget();
  budget.allocators = budget.alignments = budget.callers = budget.addresses = budget.stacks = false;
  PlanGenerator generator(spec, budget, 3);
  std::set<std::uint64_t> seeds;
  std::set<std::uint32_t> poisons;
  for (int i = 0; i < 50; ++i) {
    const Mode mode = generator.next().mode;
    seeds.insert(mode.schedule_seed);
    poisons.insert(mode.poison);
    EXPECT_EQ(mode, (Mode{.poison = mode.poison, .schedule_seed = mode.schedule_seed}));
  }
  EXPECT_EQ(seeds.size(), 50u);
  EXPECT_GT(poisons.size(), 3u);
  EXPECT_TRUE(poisons.contains(0)) << "as memory that was never used";
}

TEST(PlanGenerator, AllocatorsAreDrawnBesideThePlan) {
  const TargetSpec spec = chunk_like_spec();
  Budget guarded = host_budget();
  guarded.allocators = false;
  PlanGenerator with(spec, host_budget(), 3), without(spec, guarded, 3);
  std::map<Allocator, int> count;
  std::set<PoolPolicy> policies;
  for (int i = 0; i < 600; ++i) {
    const Plan plan = with.next();
    EXPECT_EQ(plan.steps, without.next().steps) << "the same steps of a seed";
    ++count[plan.mode.allocator];
    policies.insert(plan.mode.pool);
    if (plan.mode.allocator != Allocator::pool) {
      EXPECT_EQ(plan.mode.pool, PoolPolicy{});
    }
  }
  // One in six, one in twelve, and the rest.
  EXPECT_NEAR(count[Allocator::caching], 100, 40);
  EXPECT_NEAR(count[Allocator::pool], 50, 30);
  EXPECT_EQ(count[Allocator::plain], 0);
  EXPECT_GT(policies.size(), 4u);
}

// By alignment, how many of the plans of a spec have it.
std::map<Alignment, int> alignments_of(const TargetSpec& spec, int plans) {
  Budget promised = host_budget();
  promised.alignments = false;
  PlanGenerator with(spec, host_budget(), 3), without(spec, promised, 3);
  std::map<Alignment, int> count;
  for (int i = 0; i < plans; ++i) {
    Plan plan = with.next();
    if (plan.mode.allocator != Allocator::guard) {
      EXPECT_EQ(plan.mode.alignment, Alignment::promised);
    }
    ++count[plan.mode.alignment];
    plan.mode.alignment = Alignment::promised;
    EXPECT_EQ(plan, without.next()) << "the same plan of a seed";
  }
  return count;
}

TEST(PlanGenerator, AlignmentsAreDrawnBesideThePlan) {
  TargetSpec spec = chunk_like_spec();
  ASSERT_EQ(spec.tensors[0].align_bytes, 0u);
  // Three in four plans have the allocator guard. Of those one in six, and of the rest two times
  // one in sixteen.
  auto count = alignments_of(spec, 600);
  EXPECT_NEAR(count[Alignment::element], 75, 30);
  EXPECT_NEAR(count[Alignment::exact], 23, 15);
  EXPECT_NEAR(count[Alignment::mixed], 23, 15);
  for (auto& tensor : spec.tensors) tensor.align_bytes = dtype_bytes(tensor.dtype);
  count = alignments_of(spec, 600);
  EXPECT_EQ(count[Alignment::element], 0) << "no tensor is silent";
  EXPECT_NEAR(count[Alignment::exact], 28, 18);
  EXPECT_NEAR(count[Alignment::mixed], 28, 18);
}

TEST(PlanGenerator, CallersAreDrawnBesideThePlan) {
  const TargetSpec spec = chunk_like_spec();
  Budget by_one = host_budget();
  by_one.callers = false;
  PlanGenerator with(spec, host_budget(), 3), without(spec, by_one, 3);
  int each = 0, short_ones = 0, each_of_graphs = 0, graphs = 0;
  for (int i = 0; i < 1600; ++i) {
    Plan plan = with.next();
    const bool drawn = plan.mode.callers == Callers::each, is_short = calls_of(plan).size() <= 6;
    (has_graphs(plan) ? graphs : short_ones) += is_short;
    (has_graphs(plan) ? each_of_graphs : each) += is_short && drawn;
    EXPECT_TRUE(is_short || has_graphs(plan) || !drawn);
    plan.mode.callers = Callers::one;
    EXPECT_EQ(plan, without.next()) << "the same plan of a seed";
  }
  EXPECT_GT(short_ones, 400);
  EXPECT_NEAR(6 * each, short_ones, 240);
  EXPECT_GT(graphs, 20);
  EXPECT_NEAR(3 * each_of_graphs, graphs, 75);
}

struct Drawn {
  int able = 0,
      reused = 0;  // plans of several calls on one stream, and those with addresses reused
};
Drawn addresses_of(const TargetSpec& spec) {
  Budget distinct = host_budget();
  distinct.addresses = false;
  PlanGenerator with(spec, host_budget(), 3), without(spec, distinct, 3);
  Drawn drawn;
  for (int i = 0; i < 3200; ++i) {
    Plan plan = with.next();
    const bool reused = plan.mode.addresses == Addresses::reused;
    const bool able = calls_of(plan).size() > 1 && !has_streams(plan);
    drawn.able += able;
    drawn.reused += reused;
    EXPECT_TRUE(able || !reused);
    plan.mode.addresses = Addresses::distinct;
    EXPECT_EQ(plan, without.next()) << "the same plan of a seed";
  }
  return drawn;
}

TEST(PlanGenerator, AddressesAreDrawnBesideThePlan) {
  TargetSpec spec = chunk_like_spec();
  Drawn drawn = addresses_of(spec);
  EXPECT_GT(drawn.able, 1200);
  EXPECT_NEAR(drawn.reused, drawn.able / 6.0, 80);
  spec.side_streams = 1;
  drawn = addresses_of(spec);
  EXPECT_NEAR(drawn.reused, drawn.able / 24.0, 40);
  spec.remembers_addresses = true;
  EXPECT_EQ(addresses_of(spec).reused, 0);
}

TEST(PlanGenerator, ATargetLargerThanTheBudgetGetsItsSmallestCall) {
  TargetSpec spec = chunk_like_spec();
  spec.work = [](const Dims&, const Config&) { return 1e12; };
  PlanGenerator generator(spec, host_budget(), 4);
  for (int i = 0; i < 50; ++i) {
    const Plan plan = generator.next();
    EXPECT_EQ(call_count(plan), 1);
    EXPECT_TRUE(validate(plan, spec));
  }
}

TEST(PlanGenerator, ConstraintsThatNothingSatisfiesAreAnError) {
  TargetSpec spec = chunk_like_spec();
  spec.constraints.push_back(
      Constraint::predicate("never", [](const Dims&, const Config&) { return false; }));
  EXPECT_THROW(PlanGenerator(spec, host_budget(), 1), std::invalid_argument);
}

// Unusual specs: random ranges, lists, multiples, chains and tensors.
TargetSpec random_spec(std::uint64_t seed) {
  Draw draw{rc::Random(seed)};
  TargetSpec spec;
  spec.name = "random";
  const auto dims = draw.index(6) + 1;
  for (std::size_t i = 0; i < dims; ++i) {
    DimSpec dim{.name = std::string(1, static_cast<char>('a' + i))};
    if (draw.one_in(4)) {
      for (std::int64_t v = draw.in_range(1, 4); dim.values.size() < 5; v *= 2)
        dim.values.push_back(v);
    } else {
      dim.multiple_of = draw.one_in(3) ? draw.in_range(2, 8) : 1;
      dim.min = draw.in_range(0, 4);
      dim.max = dim.min + dim.multiple_of * draw.log_uniform(1, 10000);
      dim.tile = draw.one_in(2) ? 32 : 0;
    }
    spec.dims.push_back(dim);
  }
  for (std::size_t i = 1; i < dims; ++i) {
    const std::string& a = spec.dims[i - 1].name;
    const std::string& b = spec.dims[i].name;
    if (draw.one_in(3)) spec.constraints.push_back(Constraint::at_most(a, b));
    if (draw.one_in(3)) spec.constraints.push_back(Constraint::divides(a, b));
  }
  for (int t = 0; t < 3; ++t) {
    std::vector<std::string> names;
    for (auto n = draw.in_range(0, 5); n > 0; --n)
      names.push_back(spec.dims[draw.index(dims)].name);
    spec.tensors.push_back(
        {.name = std::string(1, static_cast<char>('x' + t)),
         .shape = shape_of(names),
         .layouts = {draw.one_in(2), draw.one_in(2), draw.one_in(2), draw.one_in(2)}});
  }
  for (auto n = draw.in_range(0, 3); n > 0; --n)
    spec.knobs.push_back({.name = "k" + std::to_string(n), .values = {1, "two", 3}});
  return spec;
}

TEST(PlanGenerator, HoldsForRandomSpecs) {
  int impossible = 0, possible = 0;
  const auto result = rc::check("plans of random specs are valid and within budget", [&] {
    const TargetSpec spec = random_spec(*rc::gen::arbitrary<std::uint64_t>());
    std::shared_ptr<const CallMaker> calls;
    try {
      calls = std::make_shared<CallMaker>(spec, true);
    } catch (const std::invalid_argument&) {
      ++impossible;  // e.g. a divides b with no common multiple in range
      return;
    }
    ++possible;
    const Plan plan = *plan_gen(calls, host_budget());
    const auto valid = validate(plan, spec);
    RC_ASSERT(valid.has_value());
    const Budget budget = host_budget();
    const Cost least = calls->cost(calls->simplest());
    if (least.work <= budget.work_per_plan &&
        least.bytes <= static_cast<double>(budget.bytes_per_plan))
      return expect_within(plan, spec, budget);
    // Not even the simplest call fits the budget; the plan then consists of that call, once.
    for (const auto* step : calls_of(plan)) {
      const Cost cost = calls->cost(step->call);
      RC_ASSERT(cost.work <= std::max(least.work, budget.work_per_plan + budget.large_work));
    }
  });
  EXPECT_TRUE(result);
  EXPECT_GT(possible, impossible);
}

}  // namespace
}  // namespace redzone::generators
