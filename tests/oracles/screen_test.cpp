// The screen: its two trials and what it judges of them.
#include <gtest/gtest.h>

#include "oracles/along.h"
#include "oracles/observations.h"
#include "oracles/redzone.h"
#include "oracles/screen.h"

namespace redzone::oracles {
namespace {

using testing::compared_spec;
using testing::completed;
using testing::ended;
using testing::faulted;
using testing::plan_of_calls;

Verdict screen_two(const Plan& plan, Observation a, Observation b, TargetSpec s = compared_spec()) {
  const Observation both[] = {std::move(a), std::move(b)};
  return ScreenOracle().judge(plan, s, both);
}

// True if the two trials have different settings along the axis.
bool differ_along(const ModeAxis& axis, const std::vector<TrialSpec>& trials) {
  if (axis.take == nullptr) return !trials[1].order.empty();  // which runs graphs as plain calls
  TrialSpec first = trials[0];
  axis.take(first.mode, trials[1].mode);
  return first != trials[0];
}

// What only a comparison along an axis shows is seen because the trials differ along it. Memory of
// another allocator than the guard is compared with guarded memory, whose sides are not varied.
TEST(Screen, TheTwoTrialsDifferAlongEveryAxisThatAnOracleComparesAlong) {
  const Plan guarded = testing::along_every_axis();
  Plan cached = guarded;
  cached.mode.allocator = Allocator::caching;
  const auto of_guarded = ScreenOracle().expand(guarded, compared_spec());
  const auto of_cached = ScreenOracle().expand(cached, compared_spec());
  for (const auto& axis : all_mode_axes()) {
    if (axis.oracle.empty()) continue;
    EXPECT_TRUE(differ_along(axis, of_guarded) || differ_along(axis, of_cached))
        << axis.name << ": its row needs screened = true, or the screen has to set it";
  }
  EXPECT_TRUE(of_guarded[0].order.empty());
  EXPECT_EQ(of_guarded[1].order, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_TRUE(of_guarded[1].reference);
}

TEST(Screen, OneTrialIsGuardedWhateverThePlansAllocator) {
  Plan plan = plan_of_calls({1, 2, 3});
  plan.mode.allocator = Allocator::pool;
  plan.mode.pool.allow_opportunistic = false;
  const auto trials = ScreenOracle().expand(plan, compared_spec());
  EXPECT_EQ(trials[0].mode.allocator, Allocator::pool);
  EXPECT_EQ(trials[0].mode.pool, plan.mode.pool);
  EXPECT_EQ(trials[1].mode.allocator, Allocator::guard);
  EXPECT_EQ(trials[1].mode.pool, PoolPolicy{});
  EXPECT_EQ(trials[1].mode.placement, Placement::guard_after);
}

TEST(Screen, AWriteToFreedMemoryNamesIt) {
  auto a = completed({5});
  BufferObservation freed;
  freed.name = "tmp";
  freed.scratch = true;
  freed.changed = 3;
  a.calls[0].buffers.push_back(freed);
  const auto v = screen_two(plan_of_calls({1}), a, completed({5}));
  EXPECT_EQ(v.signature, (Signature{FailKind::use_after_free, "t", "", "tmp", "inside", "write"}));
  EXPECT_NE(v.reason.find("use after free: write to 'tmp'"), std::string::npos) << v.reason;
}

TEST(Screen, EqualTrialsPass) {
  EXPECT_EQ(screen_two(plan_of_calls({1, 2}), completed({5, 6}), completed({5, 6})).outcome,
            Outcome::pass);
}

TEST(Screen, TheFirstTrialAloneShowsAFaultAndNothingElse) {
  const auto plan = plan_of_calls({8});
  Fault fault;
  fault.code = "SIGSEGV";
  const std::vector<Observation> faulty{faulted(fault)};
  EXPECT_EQ(ScreenOracle().judge(plan, compared_spec(), faulty).signature.kind,
            FailKind::illegal_access);
  const std::vector<Observation> hung{ended(End::hang)};
  EXPECT_EQ(ScreenOracle().judge(plan, compared_spec(), hung).signature.kind, FailKind::hang);
  const std::vector<Observation> half{completed({1})};
  EXPECT_EQ(ScreenOracle().judge(plan, compared_spec(), half).outcome, Outcome::inconclusive);
}

TEST(Screen, ADifferenceIsADivergenceOfItsTensor) {
  const auto v = screen_two(plan_of_calls({1, 2}), completed({5, 6}), completed({5, 7}));
  EXPECT_TRUE(v.failed());
  EXPECT_EQ(v.call, 1);
  EXPECT_EQ(v.signature, (Signature{FailKind::divergence, "t", "", "y", "", ""}));
}

TEST(Screen, NondeterministicTargetsMayDiffer) {
  auto s = compared_spec();
  s.deterministic = false;
  EXPECT_EQ(screen_two(plan_of_calls({1}), completed({5}), completed({6}), s).outcome,
            Outcome::pass);
}

TEST(Screen, IdenticalCallsMustAgreeWithinATrial) {
  const auto v = screen_two(plan_of_calls({4, 2, 4}), completed({5, 6, 9}), completed({5, 6, 9}));
  EXPECT_TRUE(v.failed());
  EXPECT_EQ(v.call, 2);
}

TEST(Screen, CanariesNameBufferAndSide) {
  auto a = completed({5});
  a.calls[0].buffers[1].dirty_after = 4;
  EXPECT_EQ(screen_two(plan_of_calls({1}), a, completed({5})).signature,
            (Signature{FailKind::redzone, "t", "", "y", "after", "write"}));
  auto b = completed({5});
  b.calls[0].buffers[0].changed = 1;
  EXPECT_EQ(screen_two(plan_of_calls({1}), completed({5}), b).signature,
            (Signature{FailKind::input_changed, "t", "", "x", "inside", "write"}));
}

TEST(Screen, WhatCannotBeJudgedIsNeverAPass) {
  const Plan plan = plan_of_calls({1});
  EXPECT_EQ(screen_two(plan, completed({5}), ended(End::worker_error, "gone")).outcome,
            Outcome::harness_error);
  EXPECT_EQ(screen_two(plan, ended(End::unsupported, "no"), completed({5})).outcome,
            Outcome::not_applicable);
  EXPECT_EQ(screen_two(plan, ended(End::out_of_memory), ended(End::out_of_memory)).outcome,
            Outcome::not_applicable);
  // A fault in one trial counts even if the other trial could not be judged.
  EXPECT_TRUE(screen_two(plan, ended(End::unsupported), faulted({"SIGSEGV"})).failed());
}

TEST(Screen, WritesOfARefusedTrialAreFailures) {
  const Plan plan = plan_of_calls({1});
  for (const End end : {End::unsupported, End::out_of_memory, End::completed}) {
    auto wrote = completed({5});
    wrote.end = end;
    wrote.calls[0].buffers[1].dirty_after = 4;
    const Verdict v = screen_two(plan, wrote, completed({5}));
    EXPECT_EQ(v.signature.kind, FailKind::redzone) << name_of(end);
    EXPECT_EQ(RedzoneOracle().judge(plan, compared_spec(), {&wrote, 1}).signature, v.signature);
  }
  // The observation of a worker that failed is not believed.
  auto broken = completed({5});
  broken.end = End::worker_error;
  broken.calls[0].buffers[1].dirty_after = 4;
  EXPECT_EQ(screen_two(plan, broken, completed({5})).outcome, Outcome::harness_error);
}

}  // namespace
}  // namespace redzone::oracles
