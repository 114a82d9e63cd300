// Reduction where workers start slowly: in used workers, and in few fresh ones at the end, because
// what other plans left in a used worker may hide a failure.
#include <gtest/gtest.h>

#include <thread>

#include "campaign/triage_case.h"
#include "core/plan_text.h"

namespace redzone::campaign {
namespace {

using namespace testing;

TriageOptions with_slow_starts() {
  TriageOptions options = patient();
  options.reuse_workers = true;
  options.confirm_runs = 2;
  options.final_runs = 7;
  options.attribution_runs = 0;
  options.batch = 1;  // as on a GPU
  return options;
}

// The last call writes past `y` if its trial has as many calls as that; a worker that has run other
// trials may need another number.
Bug writes_in_the_last_call(std::size_t calls, std::size_t in_a_used_worker) {
  return [=](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    Observation o = all_right(plan, trial);
    if (o.calls.size() < (before.empty() ? calls : in_a_used_worker)) return o;
    o.calls.back().buffers.back().dirty_after = 4;
    return o;
  };
}

TEST(UsedWorkers, CallsThatOnlyAUsedWorkerNeedsAreLeftOut) {
  TriageCase c(writes_in_the_last_call(2, 3), with_slow_starts());
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.plan, plain_plan({call_of(1, 16), call_of(1, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
}

// The last call writes past `y` behind one, two or four others, by what its worker has run.
TEST(UsedWorkers, APlanThatASharedProcessShortensLosesTheCallsThatOnlyThatProcessNeeds) {
  const Bug bug = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    const std::size_t calls = before.empty() ? 2 : before.size() <= 20 ? 3 : 5;
    Observation o = all_right(plan, trial);
    if (o.calls.size() < calls) return o;
    o.calls.back().buffers.back().dirty_after = 4;
    return o;
  };
  TriageCase c(bug, with_slow_starts());
  const Finding f = c.settle(plain_plan(std::vector<Call>(30, call_of(1, 16)))).finding;
  EXPECT_EQ(f.plan, plain_plan({call_of(1, 16), call_of(1, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
}

TEST(UsedWorkers, FewFreshProcessesAreAskedAboutSimplerPlans) {
  TriageCase c(writes_in_the_last_call(2, 2), with_slow_starts());
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.plan, plain_plan({call_of(1, 16), call_of(1, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
  // One confirms and one measures.
  EXPECT_EQ(c.executor.fresh_processes(), 2u);
  // One more of each, one for the plan without one of its calls, and one for all other plans.
  EXPECT_EQ(c.executor.workers_of_others(), 4u);
}

// What a target has left in its own process is all that another can see of it, unless they share
// state.
TEST(UsedWorkers, TargetsThatShareStateAreTriedInFreshProcesses) {
  TriageOptions options = with_slow_starts();
  options.shared_state = true;
  TriageCase c(writes_in_the_last_call(2, 2), options);
  EXPECT_TRUE(c.settle(large()).finding.minimal);
  EXPECT_EQ(c.executor.fresh_processes(), 6u);
  EXPECT_EQ(c.executor.workers_of_others(), 0u);
}

TEST(UsedWorkers, WhatOnlyFreshProcessesShowIsMeasuredInFewOfThem) {
  const Bug bug = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    Observation o = all_right(plan, trial);
    if (before.empty()) o.calls.back().buffers.back().dirty_after = 4;
    return o;
  };
  TriageCase c(bug, with_slow_starts());
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.state, FindingState::confirmed);
  EXPECT_EQ(f.reliability.n, 3);
}

TEST(UsedWorkers, AFreshProcessRunsFewTrialsSoThatOthersGetTheirs) {
  std::uint64_t differs = 0;
  const Bug bug = [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    Observation o = all_right(plan, trial);
    o.calls.back().buffers.back().digest = ++differs;
    return o;
  };
  TriageCase c(bug, with_slow_starts());
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.signature.kind, FailKind::nondeterministic);
  EXPECT_TRUE(f.minimal);
  EXPECT_GT(f.reduction.trials, 100);
  EXPECT_LE(c.executor.most_in_chain(), 64u);
}

// Each trial takes longer than the whole reduction may; what they take by themselves is said to be
// nothing, because they only wait for others.
TEST(UsedWorkers, WhatTheTrialsOfOthersTakeDoesNotEndAReduction) {
  for (const bool waits : {true, false}) {
    TriageOptions options = with_slow_starts();
    // The trials take several times as long, what is done between them a small part of it.
    options.reduce_time = std::chrono::milliseconds(200);
    if (waits) options.trial_time = [] { return std::chrono::microseconds(0); };
    const Bug bug = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
      Observation o = all_right(plan, trial);
      o.calls.back().buffers.back().dirty_after = 4;
      return o;
    };
    TriageCase c(bug, options);
    const Finding f = c.settle(large()).finding;
    EXPECT_EQ(f.reduction.end, waits ? ReductionEnd::minimal : ReductionEnd::time);
  }
}

// A worker that has run a larger plan hides that small ones fail: say it keeps its largest scratch.
Bug writes_from(std::int64_t least, std::int64_t in_a_used_worker) {
  return [=](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    Observation o = all_right(plan, trial);
    const std::int64_t n = get(calls_of_trial(plan, trial).back().second.dims, "N");
    const bool has_room = std::any_of(before.begin(), before.end(),
                                      [&](const Call& b) { return get(b.dims, "N") > n; });
    if (n < (has_room ? in_a_used_worker : least)) return o;
    o.calls.back().buffers.back().dirty_after = 4;
    return o;
  };
}

TEST(UsedWorkers, ASmallPlanThatOnlyFreshProcessesShowIsFound) {
  TriageCase c(writes_from(2, 100), with_slow_starts());
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.plan, plain_plan({call_of(2, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
}

// A cache of the process under a key that lacks a dim, say: in a worker that has run much, results
// differ from run to run, and in a new one they are wrong.
TEST(UsedWorkers, ADirectFailureThatTheyGiveAnotherNameIsConfirmedInNewOnes) {
  std::uint64_t differs = 0;
  const Bug bug = [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    constexpr std::size_t kMuch = 40;
    Observation o = all_right(plan, trial);
    for (const auto& [index, call] : calls_of_trial(plan, trial)) {
      auto& seen = o.calls[static_cast<std::size_t>(index)];
      if (trial.reference) seen.comparison = Comparison::compared;
      if (get(call.dims, "C") == 64) seen.buffers.back().dirty_after = 4;
      if (get(call.dims, "C") != 32) continue;
      seen.buffers.back().digest = before.size() < kMuch ? 1 : ++differs;
      if (trial.reference && before.size() < kMuch)
        seen.references = {{.tensor = "y", .numel = 8, .mismatches = 8}};
    }
    return o;
  };
  TriageCase c(bug, with_slow_starts());
  c.settle(busy_plan(std::vector<Call>(4, call_of(700, 64))));  // the used worker runs much
  const Finding f = c.settle(plain_plan({call_of(10, 32)})).finding;
  EXPECT_EQ(f.signature.kind, FailKind::reference) << f.signature.text();
  EXPECT_EQ(f.state, FindingState::confirmed);
}

// Processes with one hardware queue start sooner, but a replay has several.
TEST(OneQueue, ServesForTheReductionAndNotForTheMeasurement) {
  TriageCase c(writes_in_the_last_call(2, 2), with_slow_starts());
  const Finding f = c.settle(large()).finding;
  EXPECT_TRUE(f.minimal);
  const auto& one_queue = c.executor.one_queue();
  const auto others = static_cast<std::size_t>(f.reliability.n);
  ASSERT_GT(one_queue.size(), others);
  for (std::size_t i = 0; i < one_queue.size(); ++i)
    EXPECT_EQ(one_queue[i], i + others < one_queue.size()) << i;
}

TEST(OneQueue, AFailureThatItHidesIsConfirmedAndReducedWithSeveral) {
  TriageCase c(writes_in_the_last_call(2, 2), with_slow_starts());
  c.executor.hide_all_with_one_queue();
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.state, FindingState::confirmed);
  EXPECT_EQ(f.plan, plain_plan({call_of(1, 16), call_of(1, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
}

TEST(OneQueue, IsNotUsedWhereWorkersStartQuickly) {
  TriageCase c(writes_in_the_last_call(2, 2));
  EXPECT_TRUE(c.settle(large()).finding.minimal);
  EXPECT_EQ(std::count(c.executor.one_queue().begin(), c.executor.one_queue().end(), true), 0);
}

// A counter of the process: each call of a process has other outputs.
Observation counts_calls(const Plan& plan, const TrialSpec& trial,
                         const std::vector<Call>& before) {
  Observation o = all_right(plan, trial);
  std::uint64_t made = before.size();
  for (const auto& [index, call] : calls_of_trial(plan, trial))
    o.calls[static_cast<std::size_t>(index)].buffers[1].digest = ++made;
  return o;
}

// One call alone is always the same in a new worker. Equal calls of one trial are not.
TEST(UsedWorkers, WhatAProcessKeepsIsShownInOneTrial) {
  for (const std::size_t calls : {1, 2}) {
    TriageCase c(counts_calls, with_slow_starts());
    const Finding f = c.settle(plain_plan(std::vector<Call>(calls, call_of(64, 16)))).finding;
    EXPECT_EQ(f.state, FindingState::confirmed) << calls;
    EXPECT_EQ(f.signature.kind, FailKind::history) << f.signature.text();
    EXPECT_EQ(f.plan, plain_plan({call_of(1, 16), call_of(1, 16)})) << print_plan(f.plan);
    EXPECT_TRUE(f.needs_history);
    EXPECT_TRUE(f.minimal);
  }
}

}  // namespace
}  // namespace redzone::campaign
