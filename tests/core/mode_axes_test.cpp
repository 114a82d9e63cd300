// Properties of every row of the table of axes.
#include "core/mode_axes.h"

#include <gtest/gtest.h>

#include <set>

#include "core/contention.h"

namespace redzone {
namespace {

// Two calls on two streams, captured into a graph; no value of the mode is a default.
Plan busy() {
  Plan plan;
  plan.target = "t";
  plan.mode.launch = Launch::gated;
  plan.mode = with_allocator(plan.mode, Allocator::pool);
  plan.mode.placement = Placement::guard_before;
  plan.mode.poison = 0x12345678u;
  plan.mode.schedule_seed = 77;
  plan.mode.pool.allow_opportunistic = false;
  plan.mode.alignment = Alignment::exact;
  plan.mode.callers = Callers::each;
  plan.mode.addresses = Addresses::reused;
  plan.mode.stack = Stack::filled;
  CallStep call;
  call.graph = 1;
  plan.steps = {call, WaitStep{1, 0}, call, ReplayStep{1, 1, 1}};
  std::get<CallStep>(plan.steps[2]).stream = 1;
  return plan;
}

Plan with_value(const Plan& plan, const ModeValue& value) {
  Draft draft(plan);
  value.set(draft);
  return draft.done();
}

TEST(ModeAxes, HaveNamesAndOraclesOfTheirOwn) {
  std::set<std::string_view> names{axis::kLoad}, oracles;
  for (const auto& axis : all_mode_axes()) {
    EXPECT_TRUE(names.insert(axis.name).second) << axis.name;
    if (!axis.oracle.empty()) {
      EXPECT_TRUE(oracles.insert(axis.oracle).second) << axis.oracle;
      EXPECT_FALSE(axis.claim.empty()) << axis.name;
      EXPECT_NE(axis.vary, nullptr) << axis.name;
    }
    EXPECT_EQ(find_mode_axis(all_mode_axes(), axis.name), &axis);
    EXPECT_EQ(&mode_axis(axis.name), &axis);
  }
  EXPECT_EQ(find_mode_axis(all_mode_axes(), "no axis"), nullptr);
}

TEST(ModeAxes, SettingAValueGivesAPlanThatHasIt) {
  for (const auto& axis : all_mode_axes()) {
    ASSERT_NE(axis.value, nullptr) << axis.name;
    ASSERT_FALSE(axis.values.empty()) << axis.name;
    EXPECT_LE(axis.attributes(), axis.values.size()) << axis.name;
    std::set<std::string> hashes;
    for (const auto& value : axis.values) {
      const Plan changed = with_value(busy(), value);
      EXPECT_TRUE(hashes.insert(plan_hash(changed)).second) << axis.name << " = " << value.name;
      EXPECT_EQ(calls_of(changed).size() >= 2, true) << axis.name << " = " << value.name;
      // An axis outside the mode has a value only if the plan has anything along it.
      if (axis.has == nullptr || axis.has(changed)) {
        EXPECT_EQ(axis.value(changed), value.name) << axis.name;
      }
    }
  }
}

TEST(ModeAxes, ChangeNothingElse) {
  for (const auto& axis : all_mode_axes()) {
    if (axis.has != nullptr) continue;
    for (const auto& value : axis.values) {
      Plan back = with_value(busy(), value);
      axis.take(back.mode, busy().mode);
      EXPECT_EQ(back, busy()) << axis.name << " = " << value.name;
    }
    TrialSpec trial{busy().mode};
    axis.vary(busy(), trial);
    EXPECT_NE(trial, TrialSpec{busy().mode}) << axis.name;
    axis.take(trial.mode, busy().mode);
    EXPECT_EQ(trial, TrialSpec{busy().mode}) << axis.name;
  }
}

// The screen varies every axis of its list in every plan.
TEST(ModeAxes, ChangeNoPlanThatTheyDoNotApplyTo) {
  int without = 0;
  for (const auto& axis : all_mode_axes()) {
    const Plan plan;
    if (axis.has == nullptr || axis.has(plan) || !axis.vary) continue;
    ++without;
    TrialSpec varied{plan.mode};
    for (std::size_t k = 0; k < axis.compared; ++k) {
      axis.vary(plan, varied);
      EXPECT_EQ(varied, TrialSpec{plan.mode}) << axis.name;
    }
  }
  EXPECT_GE(without, 4);
}

TEST(ModeAxes, PlainerModesEndAtOneThatHasNoPlainer) {
  for (const auto& axis : all_mode_axes()) {
    if (axis.plainer == nullptr) continue;
    const auto modes = axis.plainer(busy().mode);
    ASSERT_FALSE(modes.empty()) << axis.name;
    EXPECT_NE(modes.front(), busy().mode) << axis.name;
    for (const auto& mode : axis.plainer(modes.front())) {
      const bool nothing_plainer = mode == modes.front();
      EXPECT_TRUE(nothing_plainer || axis.name == "allocator") << axis.name;
    }
  }
}

// Calls that compute at once have no launches, no order of blocks and no graphs. What else a row
// varies has to have an effect on them, or be of enqueued work.
TEST(ModeAxes, OfCallsThatComputeAtOnceVaryNothingOfWhatIsEnqueued) {
  const auto at_once = mode_axes_at_once(all_mode_axes());
  EXPECT_FALSE(at_once.empty());
  for (const auto& axis : at_once) {
    if (!axis.vary) continue;
    TrialSpec varied{busy().mode};
    axis.vary(busy(), varied);
    EXPECT_EQ(varied.mode.launch, busy().mode.launch) << axis.name << " is of enqueued work";
    EXPECT_EQ(varied.mode.schedule_seed, busy().mode.schedule_seed)
        << axis.name << " is of enqueued work";
    EXPECT_FALSE(varied.plain_graphs) << axis.name << " is of enqueued work";
    EXPECT_FALSE(axis.alone) << axis.name << " is of enqueued work";
  }
  for (const char* name : {"launch", "schedule", "graph", "streams"})
    EXPECT_EQ(find_mode_axis(at_once, name), nullptr) << name;
  for (const char* name : {"allocator", "placement", "poison"})
    EXPECT_NE(find_mode_axis(at_once, name), nullptr) << name;
}

TEST(ModeAxes, AlignmentIsTriedOfPlansThatHaveOneAndKeptByAllOthers) {
  const ModeAxis& alignment = mode_axis("alignment");
  Plan plan;
  EXPECT_FALSE(alignment.has(plan));
  plan.mode.alignment = Alignment::element;
  EXPECT_TRUE(alignment.has(plan));
  for (const auto& axis : all_mode_axes()) {
    if (axis.name == "alignment" || !axis.vary) continue;
    TrialSpec varied{.mode = plan.mode};
    axis.vary(plan, varied);
    EXPECT_EQ(varied.mode.alignment, Alignment::element) << axis.name;
  }
}

TEST(ModeAxes, CallersAreVariedInPlansThatSetThem) {
  const ModeAxis& callers = mode_axis("callers");
  Plan plan;
  EXPECT_FALSE(callers.has(plan));
  TrialSpec same{.mode = plan.mode};
  callers.vary(plan, same);
  EXPECT_EQ(same, TrialSpec{.mode = plan.mode});
  plan.mode.callers = Callers::each;
  EXPECT_TRUE(callers.has(plan));
  EXPECT_TRUE(callers.screened);
  TrialSpec varied{.mode = plan.mode};
  callers.vary(plan, varied);
  EXPECT_EQ(varied.mode.callers, Callers::one);
  callers.take(varied.mode, plan.mode);
  EXPECT_EQ(varied.mode, plan.mode);
}

TEST(ModeAxes, AddressesAreVariedInPlansThatSetThem) {
  const ModeAxis& addresses = mode_axis("addresses");
  Plan plan;
  EXPECT_FALSE(addresses.has(plan));
  plan.mode.addresses = Addresses::reused;
  EXPECT_TRUE(addresses.has(plan));
  EXPECT_TRUE(addresses.screened);
  EXPECT_EQ(addresses.value(plan), "reused");
  TrialSpec varied{.mode = plan.mode};
  addresses.vary(plan, varied);
  EXPECT_EQ(varied.mode.addresses, Addresses::distinct);
  addresses.take(varied.mode, plan.mode);
  EXPECT_EQ(varied.mode, plan.mode);
}

// Against what was left, which most often is the same each time, and against the other fill.
TEST(ModeAxes, AFilledStackIsComparedWithWhatWasLeftAndWithTheOtherFill) {
  const ModeAxis& stack = mode_axis("stack");
  Plan plan;
  EXPECT_FALSE(stack.has(plan));
  EXPECT_EQ(stack.compared, 2u);
  for (const auto fill : {Stack::filled, Stack::filled_finite}) {
    plan.mode.stack = fill;
    EXPECT_TRUE(stack.has(plan));
    TrialSpec varied{.mode = plan.mode};
    stack.vary(plan, varied);
    EXPECT_EQ(varied.mode.stack, Stack::as_left);
    stack.vary(plan, varied);
    EXPECT_NE(varied.mode.stack, Stack::as_left);
    EXPECT_NE(varied.mode.stack, fill);
  }
}

TEST(ModeAxes, OfADeviceWithoutSeededSchedulesLackThoseAlone) {
  const auto all = mode_axes_with(SeedDecides::interleaving),
             some = mode_axes_with(SeedDecides::nothing);
  EXPECT_EQ(all.size(), all_mode_axes().size());
  EXPECT_EQ(some.size() + 1, all.size());
  EXPECT_EQ(find_mode_axis(some, axis::kSchedule), nullptr);
}

// On a device that is kept busy beside some trials: of those plans alone, and of none that is
// blocking, because nothing is beside its launches.
TEST(ModeAxes, OfADeviceWhoseSeedsDecideContentionAreOfPlansThatHaveIt) {
  const auto axes = mode_axes_with(SeedDecides::contention);
  EXPECT_EQ(axes.size(), all_mode_axes().size());
  const ModeAxis* axis = find_mode_axis(axes, axis::kSchedule);
  ASSERT_NE(axis, nullptr);
  int contended = 0;
  for (const auto launch : {Launch::async, Launch::gated, Launch::blocking}) {
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
      Plan plan;
      plan.mode.launch = launch;
      plan.mode.schedule_seed = seed;
      contended += axis->has(plan);
      TrialSpec trial{.mode = plan.mode};
      axis->vary(plan, trial);
      EXPECT_EQ(trial.mode.schedule_seed, axis->has(plan) ? kIdleSeed : seed) << seed;
    }
  }
  EXPECT_EQ(contended, 2 * 5);
  EXPECT_FALSE(has_contention(kIdleSeed));
  EXPECT_TRUE(has_contention(kContendedSeed));
}

}  // namespace
}  // namespace redzone
