#include "generators/simplify.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "core/plan_text.h"
#include "core/validate.h"
#include "generators/internal/space.h"
#include "generators/plan_generator.h"
#include "tests/generators/specs.h"

namespace redzone::generators {
namespace {

using redzone::testing::awkward_specs;
using redzone::testing::chain_spec;
using redzone::testing::chunk_like_spec;

bool contains(const std::vector<Plan>& plans, const Plan& plan) {
  return std::find(plans.begin(), plans.end(), plan) != plans.end();
}

TEST(Simplify, CandidatesAreValidSimplerAndDistinct) {
  const auto specs = awkward_specs();
  const auto result = rc::check("candidates are valid, simpler and distinct", [&] {
    const TargetSpec& spec = *rc::gen::elementOf(specs);
    PlanGenerator generator(spec, host_budget(), *rc::gen::arbitrary<std::uint64_t>());
    const Plan plan = generator.next();
    std::set<std::string> hashes;
    for (const auto& candidate : all_simplifications(plan, spec)) {
      RC_ASSERT(validate(candidate, spec).has_value());
      RC_ASSERT(simpler(candidate, plan, spec));
      RC_ASSERT(!simpler(plan, candidate, spec));
      RC_ASSERT(!calls_of(candidate).empty());
      RC_ASSERT(hashes.insert(plan_hash(candidate)).second);
    }
  });
  EXPECT_TRUE(result);
}

// Plans that differ only in the names of their streams are equivalent.
TEST(Simplify, StreamsAreNumberedInTheOrderOfTheirUse) {
  const TargetSpec spec = chunk_like_spec();
  Plan plan = PlanGenerator(spec, host_budget(), 1).next();
  while (auto candidate = simplify(plan, spec).next()) plan = std::move(*candidate);
  plan.steps.push_back(plan.steps[0]);
  Plan swapped = plan;
  std::get<CallStep>(plan.steps[1]).stream = 1;
  std::get<CallStep>(swapped.steps[0]).stream = 1;
  EXPECT_TRUE(simpler(plan, swapped, spec));
  EXPECT_TRUE(contains(all_simplifications(swapped, spec), plan));
}

TEST(Simplify, ThePlainestPlanHasNoCandidates) {
  const TargetSpec spec = chunk_like_spec();
  Plan plan = PlanGenerator(spec, host_budget(), 1).next();
  while (auto candidate = simplify(plan, spec).next()) plan = std::move(*candidate);
  ASSERT_EQ(plan.steps.size(), 1u);
  const auto& step = std::get<CallStep>(plan.steps[0]);
  for (const auto& [name, value] : step.call.dims) EXPECT_EQ(value, 1) << name;
  EXPECT_EQ(step.repeat, 1);
  EXPECT_TRUE(step.call.layouts.empty());
  EXPECT_EQ(step.call.seed, 1u);
  EXPECT_EQ(get_int(step.call.config, "block_v"), 32);
  EXPECT_EQ(plan.mode, (Mode{.launch = Launch::blocking}));
  EXPECT_TRUE(all_simplifications(plan, spec).empty());
}

// For each dim of each call: the next smaller value, with the other dims adjusted or unchanged.
TEST(Simplify, EveryDimGoesDownByOneStep) {
  for (const auto& spec : {chunk_like_spec(), chain_spec()}) {
    const Space space(spec);
    PlanGenerator generator(spec, host_budget(), 5);
    int checked = 0;
    for (int i = 0; i < 60; ++i) {
      const Plan plan = generator.next();
      const auto candidates = all_simplifications(plan, spec);
      for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        const auto* step = std::get_if<CallStep>(&plan.steps[s]);
        if (step == nullptr) continue;
        const Point p = space.point(step->call.dims);
        for (std::size_t d = 0; d < p.size(); ++d) {
          const auto below = allowed_at_most(space.dim(d), p[d] - 1);
          if (!below) continue;
          std::vector<Point> expected;
          Point mended = p;
          mended[d] = *below;
          if (space.repair(mended, dim_bit(d))) expected.push_back(mended);
          Point alone = p;
          if (auto v = space.fitting_value(p, d, *below); v && *v < p[d]) {
            alone[d] = *v;
            expected.push_back(alone);
          }
          for (const auto& q : expected) {
            Plan smaller = plan;
            std::get<CallStep>(smaller.steps[s]).call.dims = space.dims(q);
            if (!simpler(smaller, plan, spec)) continue;
            EXPECT_TRUE(contains(candidates, smaller)) << print_plan(smaller);
            ++checked;
          }
        }
      }
    }
    EXPECT_GT(checked, 500);
  }
}

TEST(Simplify, EveryStepCanBeDroppedAndEveryRepeatLowered) {
  const TargetSpec spec = chunk_like_spec();
  PlanGenerator generator(spec, host_budget(), 6);
  for (int i = 0; i < 60; ++i) {
    const Plan plan = generator.next();
    const auto candidates = all_simplifications(plan, spec);
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
      Plan dropped = plan;
      dropped.steps.erase(dropped.steps.begin() + static_cast<std::ptrdiff_t>(s));
      EXPECT_TRUE(calls_of(dropped).empty() || !validate(dropped, spec) ||
                  contains(candidates, dropped));
      Plan fewer = plan;
      auto* step = std::get_if<CallStep>(&fewer.steps[s]);
      if (step == nullptr || step->repeat == 1) continue;
      --step->repeat;
      EXPECT_TRUE(contains(candidates, fewer));
    }
  }
}

TEST(Simplify, GraphsGoInEachWay) {
  const TargetSpec spec = chunk_like_spec();
  CallStep call;
  call.call.dims = {{"B", 1}, {"C", 1}, {"D", 1}, {"DV", 1}, {"H", 1}, {"T", 1}};
  call.call.config = {{"block_v", 32}, {"grid", "flat"}, {"num_warps", 4}};
  const auto on = [&](std::int64_t graph, std::int64_t stream = 0) {
    CallStep step = call;
    step.graph = graph;
    step.stream = stream;
    return step;
  };
  Plan plan;
  plan.target = spec.name;
  plan.steps = {on(2), WaitStep{1, 0}, on(2, 1), on(0), ReplayStep{2, 3, 1}, on(0), ReplayStep{2}};
  ASSERT_TRUE(validate(plan, spec));
  const auto candidates = all_simplifications(plan, spec);
  const auto expect_candidate = [&](std::vector<Step> steps) {
    Plan changed = plan;
    changed.steps = std::move(steps);
    EXPECT_TRUE(contains(candidates, changed)) << print_plan(changed);
  };
  // Without the graph, its calls run plainly at the capture, run plainly at the last replay, or are
  // dropped.
  expect_candidate({on(0), WaitStep{1, 0}, on(0, 1), on(0), on(0)});
  expect_candidate({WaitStep{1, 0}, on(0), on(0), on(0), on(0)});
  expect_candidate({WaitStep{1, 0}, on(0), on(0)});
  // Fewer replays, on stream 0; another graph number; one stream.
  expect_candidate(
      {on(2), WaitStep{1, 0}, on(2, 1), on(0), ReplayStep{2, 2, 1}, on(0), ReplayStep{2}});
  expect_candidate({on(2), WaitStep{1, 0}, on(2, 1), on(0), on(0), ReplayStep{2}});
  expect_candidate(
      {on(2), WaitStep{1, 0}, on(2, 1), on(0), ReplayStep{2, 3, 0}, on(0), ReplayStep{2}});
  expect_candidate(
      {on(1), WaitStep{1, 0}, on(1, 1), on(0), ReplayStep{1, 3, 1}, on(0), ReplayStep{1}});
  expect_candidate({on(2), on(2), on(0), ReplayStep{2, 3}, on(0), ReplayStep{2}});
}

TEST(Simplify, EachSettingByItself) {
  const TargetSpec spec = chunk_like_spec();
  Plan plan;
  plan.target = spec.name;
  plan.mode = {Launch::gated, Allocator::plain, Placement::guard_before, 0x7f7f7f7fu, 9};
  CallStep step;
  step.call.dims = {{"B", 1}, {"C", 2}, {"D", 1}, {"DV", 1}, {"H", 1}, {"T", 4}};
  step.call.config = {{"block_v", 16}, {"grid", "persistent"}, {"num_warps", 8}};
  step.call.layouts = {{"k", {.row_padding_elems = 9, .offset_elems = 3, .unit_stride = 8}}};
  step.call.seed = 77;
  step.stream = 1;
  plan.steps = {step, step};
  ASSERT_TRUE(validate(plan, spec));
  const auto candidates = all_simplifications(plan, spec);
  auto expect_candidate = [&](auto change) {
    Plan changed = plan;
    change(changed, std::get<CallStep>(changed.steps[1]));
    EXPECT_TRUE(contains(candidates, changed)) << print_plan(changed);
  };
  using P = Plan;
  using S = CallStep;
  expect_candidate([](P& p, S&) { p.mode.launch = Launch::blocking; });
  expect_candidate([](P& p, S&) { p.mode.launch = Launch::async; });
  expect_candidate([](P& p, S&) { p.mode.placement = Placement::guard_after; });
  expect_candidate([](P& p, S&) { p.mode.poison = 0xffffffffu; });
  expect_candidate([](P& p, S&) { p.mode.schedule_seed = 0; });
  expect_candidate([](P&, S& s) { s.call.seed = 1; });
  expect_candidate([](P&, S& s) { s.stream = 0; });
  expect_candidate([](P&, S& s) { s.call.config.insert_or_assign("block_v", Value{32}); });
  expect_candidate([](P&, S& s) { s.call.config.insert_or_assign("block_v", Value{64}); });
  expect_candidate([](P&, S& s) { s.call.config.insert_or_assign("grid", Value{"flat"}); });
  expect_candidate([](P&, S& s) { s.call.layouts.clear(); });
  expect_candidate([](P&, S& s) { s.call.layouts.at("k").row_padding_elems = 8; });
  expect_candidate([](P&, S& s) { s.call.layouts.at("k").row_padding_elems = 1; });
  expect_candidate([](P&, S& s) { s.call.layouts.at("k").offset_elems = 0; });
  expect_candidate([](P&, S& s) { s.call.layouts.at("k").unit_stride.reset(); });
  expect_candidate([](P&, S& s) { s.call.layouts.at("k").unit_stride = 1; });
  // A divides constraint ties both dims: they are halved together.
  expect_candidate([](P&, S& s) {
    s.call.dims = {{"B", 1}, {"C", 1}, {"D", 1}, {"DV", 1}, {"H", 1}, {"T", 2}};
  });
  expect_candidate([](P& p, S&) { p.mode.allocator = Allocator::guard; });
  for (const auto& candidate : candidates)
    EXPECT_TRUE(candidate.mode.allocator == Allocator::plain ||
                candidate.mode.allocator == Allocator::guard);
}

TEST(Simplify, AnAlignmentIsTakenBack) {
  const TargetSpec spec = chunk_like_spec();
  Plan plan = PlanGenerator(spec, host_budget(), 9).next();
  for (const auto alignment : {Alignment::exact, Alignment::element, Alignment::mixed}) {
    plan.mode = {.alignment = alignment};
    for (const auto plainer : {Alignment::promised, Alignment::exact}) {
      if (plainer >= alignment) continue;
      Plan plain = plan;
      plain.mode.alignment = plainer;
      EXPECT_TRUE(contains(all_simplifications(plan, spec), plain)) << name_of(alignment);
      EXPECT_TRUE(simpler(plain, plan, spec)) << name_of(alignment);
    }
  }
}

// With other alignments than mixed a seed is about the data alone, and one is as simple as another.
TEST(Simplify, OfMixedAlignmentsSmallSeedsAreTried) {
  const TargetSpec spec = chunk_like_spec();
  Plan plan = PlanGenerator(spec, host_budget(), 9).next();
  CallStep step = std::get<CallStep>(plan.steps.front());
  step.call.seed = 1234567;
  plan.steps = {step, SyncStep{}, step};
  for (const auto alignment : {Alignment::exact, Alignment::mixed}) {
    plan.mode = {.alignment = alignment};
    const auto candidates = all_simplifications(plan, spec);
    for (std::uint64_t seed = 1; seed <= 16; ++seed) {
      Plan one = plan;
      std::get<CallStep>(one.steps.front()).call.seed = seed;
      Plan both = one;
      std::get<CallStep>(both.steps.back()).call.seed = seed;
      const bool tried = seed == 1 || alignment == Alignment::mixed;
      EXPECT_EQ(contains(candidates, one), tried) << seed;
      EXPECT_EQ(contains(candidates, both), tried) << seed;
      EXPECT_EQ(simpler(one, plan, spec), tried) << seed;
      EXPECT_TRUE(simpler(both, one, spec) == tried) << seed;
    }
  }
}

TEST(Simplify, SettingsOfTheHostBecomeTheDefault) {
  const TargetSpec spec = chunk_like_spec();
  Plan plan = PlanGenerator(spec, host_budget(), 9).next();
  for (const Mode& mode : {Mode{.callers = Callers::each}, Mode{.addresses = Addresses::reused},
                           Mode{.stack = Stack::filled}, Mode{.stack = Stack::filled_finite}}) {
    plan.mode = mode;
    Plan plain = plan;
    plain.mode = {};
    EXPECT_TRUE(contains(all_simplifications(plan, spec), plain)) << print_plan(plan);
    EXPECT_TRUE(simpler(plain, plan, spec)) << print_plan(plan);
  }
}

TEST(Simplify, ThePoolIsMadePlainerStepByStep) {
  const TargetSpec spec = chunk_like_spec();
  Plan plan = PlanGenerator(spec, host_budget(), 9).next();
  plan.mode = {.allocator = Allocator::pool, .pool = {false, false, true, 4096}};
  const auto candidates = all_simplifications(plan, spec);
  const auto expect_mode = [&](const Mode& mode) {
    Plan changed = plan;
    changed.mode = mode;
    EXPECT_TRUE(contains(candidates, changed)) << print_plan(changed);
  };
  for (auto allocator : {Allocator::guard, Allocator::plain, Allocator::caching})
    expect_mode(with_allocator(plan.mode, allocator));
  Mode mode = plan.mode;
  mode.pool.allow_opportunistic = true;
  expect_mode(mode);
  mode = plan.mode;
  mode.pool.release_threshold_bytes = 0;
  expect_mode(mode);
}

TEST(Simplify, NothingIsBuiltBeforeItIsAskedFor) {
  TargetSpec spec = chunk_like_spec();
  int asked = 0;
  spec.constraints.push_back(Constraint::predicate("counted", [&](const Dims&, const Config&) {
    ++asked;
    return true;
  }));
  const Plan plan = PlanGenerator(spec, host_budget(), 9).next();
  asked = 0;
  Simplifications candidates = simplify(plan, spec);
  EXPECT_EQ(asked, 0);
  ASSERT_TRUE(candidates.next());
  EXPECT_LE(asked, static_cast<int>(2 * plan.steps.size()));
}

}  // namespace
}  // namespace redzone::generators
