#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "oracles/along.h"
#include "oracles/async.h"
#include "oracles/axis_oracle.h"
#include "oracles/catalog.h"
#include "oracles/checks.h"
#include "oracles/fault.h"
#include "oracles/observations.h"
#include "oracles/redzone.h"
#include "oracles/repetition.h"
#include "oracles/sanitizer.h"
#include "oracles/screen.h"

namespace redzone::oracles {
namespace {

using testing::completed;
using testing::ended;
using testing::faulted;
using testing::plan_of_calls;

TargetSpec spec() {
  TargetSpec s;
  s.name = "t";
  s.has_reference = true;
  return s;
}

Verdict screen_two(const Plan& plan, Observation a, Observation b, TargetSpec s = spec()) {
  const Observation both[] = {std::move(a), std::move(b)};
  return ScreenOracle().judge(plan, s, both);
}

TEST(Screen, TheTwoTrialsDifferInEveryAxis) {
  const Plan plan = plan_of_calls({1, 2, 3});
  const auto trials = ScreenOracle().expand(plan, spec());
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_NE(trials[0].mode.launch, trials[1].mode.launch);
  EXPECT_NE(trials[0].mode.placement, trials[1].mode.placement);
  EXPECT_NE(trials[0].mode.poison, trials[1].mode.poison);
  EXPECT_NE(trials[0].mode.schedule_seed, trials[1].mode.schedule_seed);
  EXPECT_TRUE(trials[0].order.empty());
  EXPECT_EQ(trials[1].order, (std::vector<std::uint32_t>{2, 1, 0}));
  EXPECT_TRUE(trials[1].reference);
}

TEST(Screen, OneTrialIsGuardedWhateverThePlansAllocator) {
  Plan plan = plan_of_calls({1, 2, 3});
  plan.mode.allocator = Allocator::pool;
  plan.mode.pool.allow_opportunistic = false;
  const auto trials = ScreenOracle().expand(plan, spec());
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
  EXPECT_EQ(ScreenOracle().judge(plan, spec(), faulty).signature.kind, FailKind::illegal_access);
  const std::vector<Observation> hung{ended(End::hang)};
  EXPECT_EQ(ScreenOracle().judge(plan, spec(), hung).signature.kind, FailKind::hang);
  const std::vector<Observation> half{completed({1})};
  EXPECT_EQ(ScreenOracle().judge(plan, spec(), half).outcome, Outcome::inconclusive);
}

TEST(Screen, ADifferenceIsADivergenceOfItsTensor) {
  const auto v = screen_two(plan_of_calls({1, 2}), completed({5, 6}), completed({5, 7}));
  EXPECT_TRUE(v.failed());
  EXPECT_EQ(v.call, 1);
  EXPECT_EQ(v.signature, (Signature{FailKind::divergence, "t", "", "y", "", ""}));
}

TEST(Screen, NondeterministicTargetsMayDiffer) {
  auto s = spec();
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
    EXPECT_EQ(RedzoneOracle().judge(plan, spec(), {&wrote, 1}).signature, v.signature);
  }
  // The observation of a worker that failed is not believed.
  auto broken = completed({5});
  broken.end = End::worker_error;
  broken.calls[0].buffers[1].dirty_after = 4;
  EXPECT_EQ(screen_two(plan, broken, completed({5})).outcome, Outcome::harness_error);
}

TEST(Fault, AddressFaultsNameWhatIsKnown) {
  const Fault fault{"SIGSEGV", 0, "scan", "k", Side::after, Access::read, 4, "thread 3"};
  const auto v = judge_fault("fault", plan_of_calls({7}), faulted(fault));
  ASSERT_TRUE(v);
  EXPECT_EQ(v->signature, (Signature{FailKind::illegal_access, "t", "scan", "k", "after", "read"}));
  EXPECT_NE(v->reason.find("N = 7"), std::string::npos) << v->reason;
}

TEST(Fault, AWildAddressNamesNoBuffer) {
  const Fault fault{"SIGSEGV", 0, "scan", "k", Side::after, Access::write, 1 << 24, ""};
  EXPECT_EQ(judge_fault("fault", plan_of_calls({7}), faulted(fault))->signature,
            (Signature{FailKind::illegal_access, "t", "scan", "", "", "write"}));
}

TEST(Fault, OtherEndsKeepTheirKind) {
  const Plan plan = plan_of_calls({7});
  EXPECT_EQ(judge_fault("f", plan, ended(End::hang))->signature.kind, FailKind::hang);
  EXPECT_EQ(judge_fault("f", plan, ended(End::exited))->signature.where, "exit");
  EXPECT_EQ(judge_fault("f", plan, faulted({"SIGABRT"}))->signature,
            (Signature{FailKind::fault, "t", "SIGABRT", "", "", ""}));
  EXPECT_FALSE(judge_fault("f", plan, completed({1})));
  const Fault unmade{.code = "target-error", .call = -1, .detail = "when it was made: no license"};
  EXPECT_EQ(judge_fault("f", plan, faulted(unmade))->reason,
            "target-error when it was made: no license");
}

TEST(Axis, FailsOnlyWhenTheChangeAloneMakesTheDifference) {
  const auto oracle = testing::along("poison");
  const Plan plan = plan_of_calls({1});
  const auto judge = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const Observation all[] = {completed({a}), completed({b}), completed({c})};
    return oracle.judge(plan, spec(), all).outcome;
  };
  EXPECT_EQ(judge(1, 1, 1), Outcome::pass);
  EXPECT_EQ(judge(1, 2, 1), Outcome::fail);
  EXPECT_EQ(judge(1, 2, 3), Outcome::inconclusive);
}

TEST(Axis, EachVariesOneAxisAndRepeatsTheFirst) {
  const Plan plan = plan_of_calls({1, 2});
  for (const auto& oracle : {testing::along("poison"), history_oracle(),
                             testing::along("placement"), testing::along("allocator")}) {
    const auto trials = oracle.expand(plan, spec());
    ASSERT_EQ(trials.size(), 3u);
    EXPECT_EQ(trials[0], trials[2]);
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
  const auto trials = oracle.expand(graph_plan(), spec());
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_FALSE(trials[0].plain_graphs);
  EXPECT_TRUE(trials[1].plain_graphs);
  EXPECT_EQ(trials[0], trials[2]);
  const Observation all[] = {completed({1, 5}), completed({1, 6}), completed({1, 5})};
  EXPECT_EQ(oracle.judge(graph_plan(), spec(), all).signature.kind, FailKind::graph);

  EXPECT_TRUE(oracle.expand(plan_of_calls({1}), spec()).empty());
  EXPECT_EQ(oracle.judge(plan_of_calls({1}), spec(), {}).outcome, Outcome::not_applicable);
}

// Otherwise failures caused only by graphs or streams would be classified as history.
TEST(Axis, HistoryOfAPlanWithGraphsOrStreamsComparesOrdersOfPlainCalls) {
  Plan streams = plan_of_calls({1, 2});
  std::get<CallStep>(streams.steps[1]).stream = 1;
  for (const auto& plan : {graph_plan(), streams}) {
    const auto trials = history_oracle().expand(plan, spec());
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
    return history_oracle().judge(plan, spec(), all).reason;
  };
  EXPECT_EQ(reason({9, 2}),
            "'y' of call 1 (N = 1) depends on the order of the calls: it differs when they run in "
            "reverse");
  EXPECT_EQ(reason({1, 9}), "'y' of call 2 (N = 2) depends on the calls before it");
}

TEST(Axis, OfEqualCallsALaterOneIsNamed) {
  const Plan plan = plan_of_calls({1, 1, 1});
  const std::vector<Observation> all{completed({1, 1, 9}), completed({9, 1, 1}),
                                     completed({1, 1, 9})};
  EXPECT_EQ(history_oracle().judge(plan, spec(), all).reason,
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
  const auto reason = [&] { return history_oracle().judge(plan, spec(), all).reason; };
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
    const auto unvaried = oracle->unvaried(plan, spec());
    if (unvaried.empty()) continue;
    EXPECT_EQ(unvaried.size(), oracle->expand(plan, spec()).size()) << oracle->name();
    for (auto trial : unvaried) {
      if (oracle->name() == "async") trial.mode.schedule_seed = unvaried[0].mode.schedule_seed;
      EXPECT_EQ(trial, unvaried[0]) << oracle->name();
    }
  }
}

TEST(Fault, AMisalignedAccessIsAKindOfItsOwnAndSaysHowTensorsWereAligned) {
  Fault fault;
  fault.code = "CUDA_ERROR_MISALIGNED_ADDRESS";
  fault.call = 0;
  Plan plan = plan_of_calls({1});
  const auto judged = [&] {
    const std::vector<Observation> one{faulted(fault)};
    return FaultOracle().judge(plan, spec(), one);
  };
  EXPECT_EQ(judged().signature.kind, FailKind::misaligned);
  EXPECT_EQ(judged().reason, "misaligned access of call 1 (N = 1) (CUDA_ERROR_MISALIGNED_ADDRESS)");
  fault.kernel = "copy";
  fault.buffer = "x";
  fault.side = Side::inside;
  fault.access = Access::read;
  plan.mode.alignment = Alignment::exact;
  EXPECT_EQ(judged().reason,
            "misaligned read of 'x' in copy of call 1 (N = 1) (CUDA_ERROR_MISALIGNED_ADDRESS); "
            "tensors were aligned to what the spec promises and no more");
  plan.mode.alignment = Alignment::element;
  EXPECT_NE(judged().reason.find("where the spec says no align_bytes"), std::string::npos)
      << judged().reason;
}

// Naming, attribution and bisection rely on the axis that an oracle reports.
TEST(Axis, OracleAndRowAgreeOnWhatIsVariedAndOnItsMeaning) {
  Plan plan = plan_of_calls({1, 2});
  plan.mode.launch = Launch::gated;
  plan.mode.callers = Callers::each;
  plan.mode.addresses = Addresses::reused;
  for (auto& step : plan.steps) std::get<CallStep>(step).graph = 1;
  plan.steps.emplace_back(ReplayStep{1, 1, 0});
  const Catalog catalog;
  for (const auto& axis : all_mode_axes()) {
    if (axis.oracle.empty()) continue;
    const Oracle* oracle = catalog.find(axis.oracle);
    ASSERT_NE(oracle, nullptr) << axis.name;
    ASSERT_FALSE(oracle->varies().empty()) << axis.name;
    EXPECT_EQ(oracle->varies().front(), axis.name);
    std::vector<Observation> seen;
    const auto trials = oracle->expand(plan, spec());
    ASSERT_GE(trials.size(), 3u) << axis.name;
    for (const auto& trial : trials)
      seen.push_back(
          completed({trial == trials.front() || &trial == &trials.back() ? 1u : 2u, 7u}));
    const auto verdict = oracle->judge(plan, spec(), seen);
    EXPECT_EQ(verdict.signature.kind, axis.kind) << axis.name << ": " << verdict.reason;
    EXPECT_NE(verdict.reason.find(axis.claim), std::string::npos) << verdict.reason;
  }
}

TEST(Catalog, ComparesAlongTheAxesThatItIsGivenMostSpecificFirst) {
  const Catalog all, some({}, SanitizerTool::none, {}, mode_axes_with(/*seeded_schedules=*/false));
  EXPECT_NE(all.find("schedule"), nullptr);
  EXPECT_EQ(some.find("schedule"), nullptr);
  EXPECT_NE(some.find("order"), nullptr);
  EXPECT_EQ(some.comparing().size() + 1, all.comparing().size());
  EXPECT_EQ(all.comparing()[0]->name(), "order");
  EXPECT_EQ(all.comparing()[1]->name(), "repetition");
  EXPECT_EQ(all.comparing().back()->name(), "reference");
  const auto place = [&](std::string_view name) {
    const auto& oracles = all.comparing();
    return std::find_if(oracles.begin(), oracles.end(),
                        [&](const auto& o) { return o->name() == name; }) -
           oracles.begin();
  };
  for (const auto& a : all_mode_axes())
    for (const auto& b : all_mode_axes())
      if (!a.oracle.empty() && !b.oracle.empty() && more_specific(a.kind, b.kind)) {
        EXPECT_LT(place(a.oracle), place(b.oracle));
      }
}

TEST(Axis, AllocationComparesWithGuardedMemory) {
  Plan plan = plan_of_calls({1, 2});
  plan.mode.allocator = Allocator::pool;
  plan.mode.pool.allow_opportunistic = false;
  const auto trials = testing::along("allocator").expand(plan, spec());
  EXPECT_EQ(trials[0].mode, plan.mode);
  EXPECT_EQ(trials[1].mode, Mode{});
  plan.mode = {};
  EXPECT_EQ(testing::along("allocator").expand(plan, spec())[1].mode.allocator, Allocator::caching);
}

TEST(Axis, ATrialThatDidNotEndIsInconclusive) {
  const Observation all[] = {completed({1}), faulted({"SIGSEGV"}), completed({1})};
  EXPECT_EQ(history_oracle().judge(plan_of_calls({1}), spec(), all).outcome, Outcome::inconclusive);
}

// The first and the last trial are equal; the trials in between each differ from them along one
// axis, in different ways.
void expect_ends_that_frame(const Oracle& oracle, const Plan& plan, FailKind kind) {
  const auto trials = oracle.expand(plan, spec());
  ASSERT_GE(trials.size(), 4u);
  EXPECT_EQ(trials.front(), trials.back());
  std::set<std::uint64_t> schedules;
  for (std::size_t i = 1; i + 1 < trials.size(); ++i)
    schedules.insert(trials[i].mode.schedule_seed);
  EXPECT_EQ(schedules.size(), trials.size() - 2);
  const std::vector<Observation> alike(trials.size(), completed({1}));
  EXPECT_EQ(oracle.judge(plan, spec(), alike).outcome, Outcome::pass);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    auto one = alike;
    one[i] = completed({2});
    const Verdict v = oracle.judge(plan, spec(), one);
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
  const auto trials = oracle.expand(plan, spec());
  EXPECT_EQ(trials.front().mode.launch, Launch::blocking);
  EXPECT_EQ(trials[1].mode, plan.mode);
}

TEST(Schedule, FailsWhenAnotherScheduleDiffersFromItsOwn) {
  const Plan plan = plan_of_calls({1});
  const Catalog catalog;
  const Oracle& oracle = *catalog.find("schedule");
  expect_ends_that_frame(oracle, plan, FailKind::schedule);
  EXPECT_EQ(oracle.expand(plan, spec()).front().mode, plan.mode);
}

TEST(Async, HasNothingToSayOfABlockingPlan) {
  const AsyncOracle oracle;
  Plan plan = plan_of_calls({1});
  plan.mode.launch = Launch::blocking;
  EXPECT_TRUE(oracle.expand(plan, spec()).empty());
  EXPECT_EQ(oracle.judge(plan, spec(), {}).outcome, Outcome::not_applicable);
}

TEST(Repetition, FailsWhenAnyOfTheEqualRunsDiffers) {
  const RepetitionOracle oracle;
  const Plan plan = plan_of_calls({1});
  const auto trials = oracle.expand(plan, spec());
  std::vector<Observation> all;
  for (const auto& trial : trials) {
    EXPECT_EQ(trial, trials[0]);
    all.push_back(completed({1}));
  }
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(oracle.judge(plan, spec(), all).outcome, Outcome::pass);
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto one = all;
    one[i] = completed({2});
    EXPECT_EQ(oracle.judge(plan, spec(), one).signature.kind, FailKind::nondeterministic);
  }
  all.back().end = End::hang;
  EXPECT_EQ(oracle.judge(plan, spec(), all).outcome, Outcome::inconclusive);
}

TEST(Reference, MismatchesFail) {
  auto o = completed({1});
  o.calls[0].references = {{"y", 8, 3, 2, 1.5, 1.0, 1e5}};
  const auto v = judge_reference("reference", plan_of_calls({1}), o);
  ASSERT_TRUE(v);
  EXPECT_EQ(v->signature.buffer, "y");
  EXPECT_NE(v->reason.find("element 2 is 1.5, expected 1"), std::string::npos) << v->reason;
}

TEST(Catalog, EveryOracleIsFoundByItsName) {
  const Catalog catalog;
  for (const auto* oracle : catalog.all()) EXPECT_EQ(catalog.find(oracle->name()), oracle);
  EXPECT_EQ(catalog.find("screen"), &catalog.screen());
  EXPECT_EQ(catalog.find("nothing"), nullptr);
}

SanitizerRecord record_of(std::string kind, bool warning = false) {
  SanitizerRecord r;
  r.kind = std::move(kind);
  r.warning = warning;
  r.kernel = "scan";
  r.call = 1;
  return r;
}

Observation under(SanitizerTool tool, std::vector<SanitizerRecord> records) {
  Observation o = completed({1, 2});
  o.sanitizer = SanitizerReport{tool, std::move(records), 0, ""};
  return o;
}

Verdict judged_by_tool(SanitizerTool tool, const Observation& seen) {
  return SanitizerOracle(tool).judge(plan_of_calls({4, 8}), {}, std::span(&seen, 1));
}

TEST(SanitizerOracle, AsksForOneTrialUnderItsTool) {
  Plan plan = plan_of_calls({4});
  plan.mode.launch = Launch::gated;
  const auto trial = [&](SanitizerTool tool) {
    const auto trials = SanitizerOracle(tool).expand(plan, {});
    EXPECT_EQ(trials.size(), 1u);
    EXPECT_EQ(trials[0].mode.sanitizer, tool);
    return trials[0].mode;
  };
  EXPECT_EQ(trial(SanitizerTool::memcheck).launch, Launch::gated);
  EXPECT_EQ(trial(SanitizerTool::racecheck).launch, Launch::async) << "a held launch could hang it";
  EXPECT_EQ(trial(SanitizerTool::racecheck).allocator, plan.mode.allocator);
  EXPECT_EQ(trial(SanitizerTool::initcheck).allocator, Allocator::plain);
}

TEST(SanitizerOracle, ARaceIsTheSameBugWhicheverAccessComesFirst) {
  SanitizerRecord race = record_of("race-raw");
  race.access = Access::read;
  race.location = "p.cu:8";
  race.other = "write at p.cu:6 by thread (0,0,0) of block (0,0,0)";
  const auto v = judged_by_tool(SanitizerTool::races, under(SanitizerTool::races, {race}));
  EXPECT_EQ(v.signature.kind, FailKind::race);
  EXPECT_EQ(v.signature.access, "");
  EXPECT_EQ(v.oracle, "races");
  EXPECT_NE(v.reason.find("race: read"), std::string::npos) << v.reason;
  EXPECT_NE(v.reason.find("at p.cu:8"), std::string::npos) << v.reason;
  EXPECT_NE(v.reason.find(", in no order with the write at p.cu:6 by thread (0,0,0)"),
            std::string::npos)
      << v.reason;
}

TEST(SanitizerOracle, NamesTheBugByItsRecord) {
  const std::pair<const char*, FailKind> kinds[] = {{"invalid-read", FailKind::illegal_access},
                                                    {"misaligned-write", FailKind::misaligned},
                                                    {"use-after-free", FailKind::use_after_free},
                                                    {"race-waw", FailKind::race},
                                                    {"uninitialized-read", FailKind::uninitialized},
                                                    {"barrier-divergence", FailKind::barrier},
                                                    {"other", FailKind::fault}};
  for (const auto& [kind, want] : kinds) {
    const auto v =
        judged_by_tool(SanitizerTool::memcheck, under(SanitizerTool::memcheck, {record_of(kind)}));
    ASSERT_TRUE(v.failed()) << kind;
    EXPECT_EQ(v.signature.kind, want) << kind;
    EXPECT_EQ(v.signature.where, want == FailKind::fault ? "other" : "scan");
    EXPECT_EQ(v.oracle, "memcheck");
    EXPECT_EQ(v.call, 1);
  }
}

TEST(SanitizerOracle, WarningsAreNoFailures) {
  EXPECT_EQ(judged_by_tool(SanitizerTool::racecheck,
                           under(SanitizerTool::racecheck, {record_of("race-raw", true)}))
                .outcome,
            Outcome::pass);
}

TEST(SanitizerOracle, WhatDidNotRunUnderTheToolIsNoPass) {
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, completed({1, 2})).outcome,
            Outcome::harness_error);
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, under(SanitizerTool::racecheck, {})).outcome,
            Outcome::harness_error);
  Observation broken = under(SanitizerTool::memcheck, {});
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, broken).outcome, Outcome::pass);
  broken.sanitizer->problem = "the log is gone";
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, broken).outcome, Outcome::harness_error);
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, ended(End::hang)).outcome,
            Outcome::inconclusive);
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, ended(End::exited)).outcome,
            Outcome::inconclusive);
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, ended(End::worker_error)).outcome,
            Outcome::harness_error);
}

// A record of the tool counts, however the trial ended.
TEST(SanitizerOracle, ARecordIsNotTakenBackByAFault) {
  Observation o = under(SanitizerTool::memcheck, {record_of("invalid-read")});
  o.end = End::fault;
  o.fault = Fault{"CUDA_ERROR_LAUNCH_FAILED"};
  EXPECT_TRUE(judged_by_tool(SanitizerTool::memcheck, o).failed());
  o.sanitizer->records.clear();
  EXPECT_EQ(judged_by_tool(SanitizerTool::memcheck, o).outcome, Outcome::inconclusive);
}

TEST(SanitizedScreen, IsTheScreenAndOneTrialMore) {
  const Catalog native, catalog({}, SanitizerTool::racecheck);
  const Plan plan = plan_of_calls({4, 8});
  TargetSpec spec;
  spec.name = "t";
  auto trials = catalog.screen().expand(plan, spec);
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[2].mode.sanitizer, SanitizerTool::racecheck);
  trials.pop_back();
  EXPECT_EQ(trials, native.screen().expand(plan, spec));
  EXPECT_EQ(native.find("racecheck")->name(), "racecheck") << "to replay what was found with it";

  std::vector<Observation> seen{completed({1, 2}), completed({1, 2}),
                                under(SanitizerTool::racecheck, {})};
  const auto judge = [&] { return catalog.screen().judge(plan, spec, seen); };
  EXPECT_EQ(judge().outcome, Outcome::pass);
  seen[2] = under(SanitizerTool::racecheck, {record_of("race-raw")});
  EXPECT_EQ(judge().signature.kind, FailKind::race);
  seen[0] = ended(End::worker_error);
  EXPECT_EQ(judge().signature.kind, FailKind::race);
  seen[2] = under(SanitizerTool::racecheck, {});
  EXPECT_EQ(judge().outcome, Outcome::harness_error);
  seen[0] = completed({3, 2});
  EXPECT_EQ(judge().signature.kind, FailKind::divergence);
}

}  // namespace
}  // namespace redzone::oracles
