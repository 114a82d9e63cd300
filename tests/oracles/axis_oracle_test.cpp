// The oracles that compare along one axis of the table, and `async` and `schedule`.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "core/contention.h"
#include "oracles/along.h"
#include "oracles/async.h"
#include "oracles/axis_oracle.h"
#include "oracles/catalog.h"
#include "oracles/observations.h"
#include "oracles/screen.h"

namespace redzone::oracles {
namespace {

using testing::compared_spec;
using testing::completed;
using testing::faulted;
using testing::plan_of_calls;

TEST(Axis, FailsOnlyWhenTheChangeAloneMakesTheDifference) {
  const auto oracle = testing::along("poison");
  const Plan plan = plan_of_calls({1});
  const auto judge = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const Observation all[] = {completed({a}), completed({b}), completed({c})};
    return oracle.judge(plan, compared_spec(), all).outcome;
  };
  EXPECT_EQ(judge(1, 1, 1), Outcome::pass);
  EXPECT_EQ(judge(1, 2, 1), Outcome::fail);
  EXPECT_EQ(judge(1, 2, 3), Outcome::inconclusive);
}

// Code that only works with the zeros of memory that was never used treats all else alike.
TEST(Axis, UninitializedTriesZerosAndWhatIsNotZero) {
  const AxisOracle oracle = testing::along("poison");
  Plan plan = plan_of_calls({1});
  for (const std::uint32_t poison : {0xffffffffu, 0x3f3f3f3fu, 0u, 0x7fa5a5a5u}) {
    plan.mode.poison = poison;
    const auto trials = oracle.expand(plan, compared_spec());
    ASSERT_EQ(trials.size(), 4u);
    EXPECT_EQ(trials.front().mode.poison, poison);
    EXPECT_EQ(trials.back(), trials.front());
    std::set<std::uint32_t> contents;
    std::vector<Observation> seen;
    for (const auto& trial : trials) {
      contents.insert(trial.mode.poison);
      seen.push_back(completed({trial.mode.poison == 0 ? 1u : 2u}));
    }
    EXPECT_EQ(contents.size(), 3u) << poison;
    EXPECT_EQ(oracle.judge(plan, compared_spec(), seen).signature.kind, FailKind::uninitialized)
        << poison;
  }
}

TEST(Axis, EachVariesOneAxisAndRepeatsTheFirst) {
  const Plan plan = plan_of_calls({1, 2});
  for (const auto& oracle : {testing::along("poison"), history_oracle(),
                             testing::along("placement"), testing::along("allocator")}) {
    const auto trials = oracle.expand(plan, compared_spec());
    ASSERT_GE(trials.size(), 3u);
    EXPECT_EQ(trials.front(), trials.back());
    const Mode &m = trials[0].mode, &n = trials[1].mode;
    const int changed = (m.launch != n.launch) + (m.placement != n.placement) +
                        (m.poison != n.poison) + (m.schedule_seed != n.schedule_seed) +
                        (m.allocator != n.allocator) + (trials[0].order != trials[1].order);
    EXPECT_EQ(changed, 1) << oracle.name();
  }
}

Plan graph_plan() {
  Plan plan = plan_of_calls({1, 2});
  std::get<CallStep>(plan.steps[0]).graph = 1;
  plan.steps.emplace_back(ReplayStep{1});
  return plan;
}

TEST(Axis, GraphRunsTheCallsPlainly) {
  const auto oracle = testing::along("graph");
  const auto trials = oracle.expand(graph_plan(), compared_spec());
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_FALSE(trials[0].plain_graphs);
  EXPECT_TRUE(trials[1].plain_graphs);
  EXPECT_EQ(trials[0], trials[2]);
  const Observation all[] = {completed({1, 5}), completed({1, 6}), completed({1, 5})};
  EXPECT_EQ(oracle.judge(graph_plan(), compared_spec(), all).signature.kind, FailKind::graph);

  EXPECT_TRUE(oracle.expand(plan_of_calls({1}), compared_spec()).empty());
  EXPECT_EQ(oracle.judge(plan_of_calls({1}), compared_spec(), {}).outcome, Outcome::not_applicable);
}

// Otherwise failures caused only by graphs or streams would be classified as history.
TEST(Axis, HistoryOfAPlanWithGraphsOrStreamsComparesOrdersOfPlainCalls) {
  Plan streams = plan_of_calls({1, 2});
  std::get<CallStep>(streams.steps[1]).stream = 1;
  for (const auto& plan : {graph_plan(), streams}) {
    const auto trials = history_oracle().expand(plan, compared_spec());
    ASSERT_EQ(trials.size(), 3u);
    EXPECT_EQ(trials[0].order, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(trials[1].order, (std::vector<std::uint32_t>{1, 0}));
    EXPECT_EQ(trials[2], trials[0]);
  }
}

TEST(Axis, NoCallIsSaidToComeBeforeTheFirst) {
  const Plan plan = plan_of_calls({1, 2});
  const auto reason = [&](std::vector<std::uint64_t> reversed) {
    const std::vector<Observation> all{completed({1, 2}), completed(std::move(reversed)),
                                       completed({1, 2})};
    return history_oracle().judge(plan, compared_spec(), all).reason;
  };
  EXPECT_EQ(reason({9, 2}),
            "'y' of call 1 (N = 1) depends on the order of the calls: it differs when they run in "
            "reverse");
  EXPECT_EQ(reason({1, 9}),
            "'y' of call 2 (N = 2) depends on the order of the calls: it differs when they run in "
            "reverse");
}

TEST(Axis, OfEqualCallsALaterOneIsNamed) {
  const Plan plan = plan_of_calls({1, 1, 1});
  const std::vector<Observation> all{completed({1, 1, 9}), completed({9, 1, 1}),
                                     completed({1, 1, 9})};
  EXPECT_EQ(history_oracle().judge(plan, compared_spec(), all).reason,
            "'y' of call 3 (N = 1) depends on the calls before it");
}

// The first call that differs need not be the one that is wrong in the plan as it is written.
TEST(Axis, HistoryNamesTheCallsThatTheReferenceCallsWrong) {
  const Plan plan = plan_of_calls({1, 2});
  const auto trial = [](std::vector<std::uint64_t> digests, std::size_t wrong) {
    Observation o = completed(std::move(digests));
    for (std::size_t i = 0; i < o.calls.size(); ++i)
      o.calls[i].references = {{.tensor = "y", .numel = 1, .mismatches = i == wrong ? 1u : 0u}};
    return o;
  };
  std::vector<Observation> all{trial({1, 2}, 1), trial({9, 8}, 0), trial({1, 2}, 1)};
  const auto reason = [&] { return history_oracle().judge(plan, compared_spec(), all).reason; };
  EXPECT_EQ(reason(),
            "'y' of call 1 (N = 1) depends on the order of the calls: it differs when they run in "
            "reverse; against the reference call 2 (N = 2) is wrong in the order of the plan, and "
            "call 1 (N = 1) in reverse");
  all[1] = trial({9, 8}, 2);
  EXPECT_NE(reason().find(", and no call in reverse"), std::string::npos) << reason();
  all[1] = completed({9, 8});
  EXPECT_EQ(reason().find("reference"), std::string::npos) << reason();
}

TEST(Axis, UnvariedTrialsAreAsManyAndDifferInNothingThatTheOracleVaries) {
  Plan plan = plan_of_calls({1, 2});
  plan.mode.launch = Launch::gated;
  const Catalog catalog;
  for (const auto& oracle : catalog.comparing()) {
    const auto unvaried = oracle->unvaried(plan, compared_spec());
    if (unvaried.empty()) continue;
    EXPECT_EQ(unvaried.size(), oracle->expand(plan, compared_spec()).size()) << oracle->name();
    for (auto trial : unvaried) {
      if (oracle->name() == "async") trial.mode.schedule_seed = unvaried[0].mode.schedule_seed;
      EXPECT_EQ(trial, unvaried[0]) << oracle->name();
    }
  }
}

// Naming, attribution and bisection rely on the axis that an oracle reports.
TEST(Axis, OracleAndRowAgreeOnWhatIsVariedAndOnItsMeaning) {
  const Plan plan = testing::along_every_axis();
  const Catalog catalog;
  for (const auto& axis : all_mode_axes()) {
    if (axis.oracle.empty()) continue;
    const Oracle* oracle = catalog.find(axis.oracle);
    ASSERT_NE(oracle, nullptr) << axis.name;
    ASSERT_FALSE(oracle->varies().empty()) << axis.name;
    EXPECT_EQ(oracle->varies().front(), axis.name);
    std::vector<Observation> seen;
    const auto trials = oracle->expand(plan, compared_spec());
    ASSERT_GE(trials.size(), 3u) << axis.name;
    for (const auto& trial : trials)
      seen.push_back(
          completed({trial == trials.front() || &trial == &trials.back() ? 1u : 2u, 7u}));
    const auto verdict = oracle->judge(plan, compared_spec(), seen);
    EXPECT_EQ(verdict.signature.kind, axis.kind) << axis.name << ": " << verdict.reason;
    EXPECT_NE(verdict.reason.find(axis.claim), std::string::npos) << verdict.reason;
  }
}

TEST(Axis, AllocationComparesWithGuardedMemory) {
  Plan plan = plan_of_calls({1, 2});
  plan.mode.allocator = Allocator::pool;
  plan.mode.pool.allow_opportunistic = false;
  const auto trials = testing::along("allocator").expand(plan, compared_spec());
  EXPECT_EQ(trials[0].mode, plan.mode);
  EXPECT_EQ(trials[1].mode, Mode{});
  plan.mode = {};
  EXPECT_EQ(testing::along("allocator").expand(plan, compared_spec())[1].mode.allocator,
            Allocator::caching);
}

TEST(Axis, ATrialThatDidNotEndIsInconclusive) {
  const Observation all[] = {completed({1}), faulted({"SIGSEGV"}), completed({1})};
  EXPECT_EQ(history_oracle().judge(plan_of_calls({1}), compared_spec(), all).outcome,
            Outcome::inconclusive);
}

// The first and the last trial are equal; the trials in between each differ from them along one
// axis, in different ways.
void expect_ends_that_frame(const Oracle& oracle, const Plan& plan, FailKind kind) {
  const auto trials = oracle.expand(plan, compared_spec());
  ASSERT_GE(trials.size(), 3u);
  EXPECT_EQ(trials.front(), trials.back());
  std::set<std::uint64_t> schedules;
  for (std::size_t i = 1; i + 1 < trials.size(); ++i)
    schedules.insert(trials[i].mode.schedule_seed);
  EXPECT_EQ(schedules.size(), trials.size() - 2);
  const std::vector<Observation> alike(trials.size(), completed({1}));
  EXPECT_EQ(oracle.judge(plan, compared_spec(), alike).outcome, Outcome::pass);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    auto one = alike;
    one[i] = completed({2});
    const Verdict v = oracle.judge(plan, compared_spec(), one);
    if (i == 0 || i + 1 == trials.size())
      EXPECT_EQ(v.outcome, Outcome::inconclusive);
    else
      EXPECT_EQ(v.signature.kind, kind);
  }
}

TEST(Async, FailsWhenARelaxedRunDiffersFromBlockingOnesThatAgree) {
  Plan plan = plan_of_calls({1});
  plan.mode.launch = Launch::gated;
  const AsyncOracle oracle;
  expect_ends_that_frame(oracle, plan, FailKind::async);
  const auto trials = oracle.expand(plan, compared_spec());
  EXPECT_EQ(trials.front().mode.launch, Launch::blocking);
  EXPECT_EQ(trials[1].mode, plan.mode);
}

TEST(Schedule, FailsWhenAnotherScheduleDiffersFromItsOwn) {
  const Plan plan = plan_of_calls({1});
  const Catalog catalog;
  const Oracle& oracle = *catalog.find("schedule");
  expect_ends_that_frame(oracle, plan, FailKind::schedule);
  EXPECT_EQ(oracle.expand(plan, compared_spec()).front().mode, plan.mode);
}

// Its trials between the two are on an idle device.
TEST(Schedule, OfADeviceThatIsKeptBusyComparesPlansThatHaveThatWithAnIdleOne) {
  const Catalog catalog({}, SanitizerTool::none, {}, mode_axes_with(SeedDecides::contention));
  const Oracle& oracle = *catalog.find("schedule");
  Plan plan = plan_of_calls({1});
  plan.mode.launch = Launch::gated;
  for (const std::uint64_t seed : {kContendedSeed, kContendedSeed + 16}) {
    plan.mode.schedule_seed = seed;
    expect_ends_that_frame(oracle, plan, FailKind::schedule);
    const auto trials = oracle.expand(plan, compared_spec());
    ASSERT_EQ(trials.size(), 3u);
    EXPECT_EQ(trials[0].mode, plan.mode);
    EXPECT_FALSE(has_contention(trials[1].mode.schedule_seed));
    EXPECT_EQ(trials[2].mode, plan.mode);
  }
  plan.mode.schedule_seed = kIdleSeed;
  EXPECT_TRUE(oracle.expand(plan, compared_spec()).empty());
}

// What fails beside other work must be able to fail again.
TEST(Async, KeepsADeviceBusyInAllOfItsRelaxedTrials) {
  const Catalog catalog({}, SanitizerTool::none, {}, mode_axes_with(SeedDecides::contention));
  Plan plan = plan_of_calls({1});
  plan.mode.launch = Launch::gated;
  plan.mode.schedule_seed = kContendedSeed;
  const auto trials = catalog.find("async")->expand(plan, compared_spec());
  ASSERT_EQ(trials.size(), 16u);
  for (const auto& trial : trials) EXPECT_TRUE(has_contention(trial.mode.schedule_seed));
  EXPECT_EQ(catalog.find("async")->varies(), (std::vector<std::string_view>{axis::kLaunch}));
}

TEST(Async, HasNothingToSayOfABlockingPlan) {
  const AsyncOracle oracle;
  Plan plan = plan_of_calls({1});
  plan.mode.launch = Launch::blocking;
  EXPECT_TRUE(oracle.expand(plan, compared_spec()).empty());
  EXPECT_EQ(oracle.judge(plan, compared_spec(), {}).outcome, Outcome::not_applicable);
}

}  // namespace
}  // namespace redzone::oracles
