#include "bisect/axes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bisect/fakes.h"
#include "core/validate.h"

namespace redzone::bisect {
namespace {

using testing::call_step;
using testing::sample_plan;
using testing::sample_spec;

const Axis* find(const std::vector<Axis>& axes, std::string_view name) {
  for (const auto& axis : axes)
    if (axis.name == name) return &axis;
  return nullptr;
}

Plan with(const Plan& plan, const Setting& setting) {
  Draft draft(plan);
  setting.apply(draft);
  return draft.done();
}

TEST(Axes, GiveValidPlansThatDiffer) {
  const TargetSpec spec = sample_spec();
  Plan plan = sample_plan({call_step(64, 32), call_step(128, 64)});
  plan.steps.insert(plan.steps.begin() + 1, SyncStep{});
  std::get<CallStep>(plan.steps[2]).stream = 1;
  plan.steps.insert(plan.steps.begin() + 2, WaitStep{1, 0});
  const auto axes = axes_of(plan, spec, {});
  EXPECT_GT(axes.size(), 15u);
  for (const auto& axis : axes) {
    std::set<std::string> seen{plan_hash(plan)};
    ASSERT_FALSE(axis.others.empty()) << axis.name;
    for (const auto& setting : axis.others) {
      const Plan changed = with(plan, setting);
      const auto valid = validate(changed, spec);
      EXPECT_TRUE(valid) << axis.name << " = " << setting.text << ": " << valid.error().message;
      EXPECT_TRUE(seen.insert(plan_hash(changed)).second) << axis.name << " = " << setting.text;
    }
  }
}

TEST(Axes, CoverKnobsModeDimsLayoutsDataAndSteps) {
  const auto axes =
      axes_of(sample_plan({call_step(64, 32), call_step(128, 64)}), sample_spec(), {});
  for (const char* name :
       {"num_warps", "block", "dtype", "launch", "allocator", "placement", "poison", "schedule",
        "call 1", "call 2", "call 1: T", "call 2: C", "H", "call 1: H", "x layout", "data"})
    EXPECT_NE(find(axes, name), nullptr) << name;
  EXPECT_EQ(find(axes, "T"), nullptr) << "the calls differ in it";
  EXPECT_EQ(find(axes, "call 1: num_warps"), nullptr) << "the calls agree in it";
}

// With mixed alignments a seed decides about these, too.
TEST(Axes, OtherDataHasTheSameAlignments) {
  for (const auto alignment : {Alignment::exact, Alignment::mixed}) {
    Plan plan = sample_plan({call_step(64, 32)});
    plan.mode.alignment = alignment;
    const auto axes = axes_of(plan, sample_spec(), {});
    std::set<std::vector<bool>> alignments;
    std::set<std::uint64_t> parities;
    for (const auto& setting : find(axes, "data")->others) {
      const std::uint64_t seed = calls_of(with(plan, setting)).front()->call.seed;
      std::vector<bool> further;
      for (std::size_t k = 0; k < 8; ++k) further.push_back(is_aligned_further(seed, k));
      alignments.insert(further);
      parities.insert(seed % 2);
    }
    EXPECT_EQ(alignments.size() == 1, alignment == Alignment::mixed) << alignment;
    EXPECT_EQ(parities.size(), 2u) << "fills differ by it";
  }
}

TEST(Axes, TryTheValueOfTheOtherCalls) {
  const auto axes =
      axes_of(sample_plan({call_step(64, 32), call_step(128, 64)}), sample_spec(), {});
  const Axis* c = find(axes, "call 1: C");
  ASSERT_NE(c, nullptr);
  EXPECT_TRUE(std::any_of(c->others.begin(), c->others.end(),
                          [](const Setting& s) { return s.text == "64"; }));
}

TEST(Axes, TakeBoundDimsAlongAndSaySo) {
  const auto axes = axes_of(sample_plan({call_step(3, 1)}), sample_spec(), {});
  const Axis* c = find(axes, "C");
  ASSERT_NE(c, nullptr);
  EXPECT_TRUE(std::any_of(c->others.begin(), c->others.end(),
                          [](const Setting& s) { return s.text == "2 (T = 4)"; }));
}

TEST(Axes, LeaveOutWhatTheOracleVariesItself) {
  const Plan plan = sample_plan({call_step(64, 32)});
  EXPECT_EQ(find(axes_of(plan, sample_spec(), {all_mode_axes(), {axis::kLaunch}}), "launch"),
            nullptr);
  EXPECT_EQ(
      find(axes_of(plan, sample_spec(), {mode_axes_with(SeedDecides::nothing), {}}), "schedule"),
      nullptr);
}

TEST(Axes, OfOneCallDoNotTakeItAway) {
  const auto axes = axes_of(sample_plan({call_step(64, 32)}), sample_spec(), {});
  EXPECT_EQ(find(axes, "call 1"), nullptr);
  EXPECT_NE(find(axes, "T"), nullptr);
}

}  // namespace
}  // namespace redzone::bisect
