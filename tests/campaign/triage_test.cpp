// From a suspect to a finding, for bugs made by hand: which oracle names them, which plan remains,
// and which failures must never be confused.
#include "campaign/triage.h"

#include <gtest/gtest.h>

#include <random>

#include "campaign/triage_case.h"
#include "core/plan_text.h"

namespace redzone::campaign {
namespace {

using namespace testing;
using redzone::testing::ended;
using redzone::testing::faulted;

TEST(Triage, ReducesAFaultToOneCallOfTheSmallestSize) {
  TriageCase c(faults_above(64));
  const auto [f, is_new, other, now] = c.settle(large());
  EXPECT_TRUE(is_new);
  EXPECT_EQ(f.plan, plain_plan({call_of(65, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
  EXPECT_FALSE(f.needs_history);
  EXPECT_EQ(f.state, FindingState::confirmed);
  EXPECT_EQ(f.oracle, "fault");
  EXPECT_EQ(f.signature.text(), "illegal-access: read after x in k (t)");
  EXPECT_EQ(f.reliability, (Reliability{10, 10}));
  EXPECT_EQ(f.original, large());
  for (const auto& row : f.attribution) EXPECT_EQ(row.failed, (Reliability{3, 3}));
  EXPECT_EQ(f.attribution.size(),
            14u);  // 3 launches, 2 placements, 3 allocators, 3 poisons, 3 schedules
}

// A large plan fails under every schedule, a smaller one only under some.
TEST(Triage, ReducesToAPlanThatFailsOnlyUnderSomeSchedules) {
  TriageCase c([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    for (const auto& [index, call] : calls_of_trial(plan, trial)) {
      const std::int64_t n = get(call.dims, "N");
      if (n > 64 || (n > 2 && trial.mode.schedule_seed == 4))
        return redzone::testing::faulted(fault_at(index, "x", Access::read, Side::after));
    }
    return all_right(plan, trial);
  });
  const Finding f = c.settle(large()).finding;
  Plan expected = plain_plan({call_of(3, 16)});
  expected.mode.schedule_seed = 4;
  EXPECT_EQ(f.plan, expected) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
}

// Records the plans and trials that it is called with.
class EchoingTool final : public Attributor {
 public:
  std::vector<Attribution> attribute(exec::Runner&, const Plan& plan, const TrialSpec& trial,
                                     const Signature& signature,
                                     const std::function<bool()>&) override {
    asked.emplace_back(plan, trial);
    Attribution a;
    a.source = "a tool";
    a.kernel = signature.where;
    return {a};
  }
  std::vector<std::pair<Plan, TrialSpec>> asked;
};

TEST(Triage, AsksTheToolsAboutTheReducedPlanOnce) {
  EchoingTool tool;
  TriageOptions options = patient();
  options.attributors = {&tool};
  TriageCase c(
      [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
        Observation o = faults_above(64)(plan, trial, before);
        if (o.fault) o.fault->known_by = "host device";
        return o;
      },
      options);
  const auto [f, is_new, other, now] = c.settle(large());
  ASSERT_EQ(tool.asked.size(), 1u);
  EXPECT_EQ(tool.asked[0].first, f.plan);
  EXPECT_EQ(tool.asked[0].second.mode, f.plan.mode);
  ASSERT_EQ(f.fault_attributions.size(), 2u);
  EXPECT_EQ(text_of(f.fault_attributions[0]), "call 1: read after 'x' in k");
  EXPECT_EQ(f.fault_attributions[0].source, "host device");
  EXPECT_EQ(f.fault_attributions[1].source, "a tool");
  EXPECT_EQ(f.fault_attributions[1].kernel, "k");
  EXPECT_EQ(c.sink.updates.back().fault_attributions, f.fault_attributions);
}

TEST(Triage, StoresEachStepBeforeItGoesOn) {
  TriageCase c(faults_above(64));
  c.settle(large());
  // Classified and confirmed, stored; reduced and measured, stored; explained, stored.
  auto at = [&](const std::string& what) {
    return std::find(c.journal.begin(), c.journal.end(), what) - c.journal.begin();
  };
  ASSERT_EQ(std::count(c.journal.begin(), c.journal.end(), "update"), 3);
  EXPECT_LT(at("update"), at("evidence confirm"));
  EXPECT_LT(at("evidence confirm"), at("evidence final"));
  ASSERT_EQ(c.sink.updates.size(), 3u);
  EXPECT_FALSE(c.sink.updates[0].minimal);
  EXPECT_EQ(c.sink.updates[0].state, FindingState::confirmed);
  EXPECT_TRUE(c.sink.updates[1].minimal);
  EXPECT_TRUE(c.sink.updates[1].attribution.empty());
  EXPECT_FALSE(c.sink.updates[2].attribution.empty());
}

// The variant is compiled for the first C; a call with another C is wrong.
TEST(Triage, ReducesADependenceOnEarlierCallsToTwo) {
  TriageCase c([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return outputs(plan, trial, {}, [](const Call& call, const std::vector<Call>& before) {
      const bool wrong = !before.empty() && get(before.front().dims, "C") != get(call.dims, "C");
      return right_digest(call) + (wrong ? 1 : 0);
    });
  });
  const Finding f =
      c.settle(busy_plan({call_of(10, 16), call_of(700, 64), call_of(64, 32)})).finding;
  EXPECT_EQ(f.signature.kind, FailKind::history);
  EXPECT_EQ(f.signature.buffer, "y");
  EXPECT_TRUE(f.minimal);
  // Either order has a call that is wrong, so neither is turned around.
  for (const auto& plan :
       {plain_plan({call_of(1, 16), call_of(1, 32)}), plain_plan({call_of(1, 32), call_of(1, 16)})})
    EXPECT_EQ(c.settle(plan).finding.plan, plan) << print_plan(plan);
}

// Written down from the largest to the smallest, the calls are right, and only the reverse is
// wrong.
TEST(Triage, WritesCallsDownInTheOrderThatIsWrong) {
  TriageCase c([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return outputs(plan, trial, {}, [](const Call& call, const std::vector<Call>& before) {
      const bool wrong =
          !before.empty() && get(before.front().dims, "C") == 16 && get(call.dims, "C") == 64;
      return right_digest(call) + (wrong ? 1 : 0);
    });
  });
  const Finding f = c.settle(plain_plan({call_of(70, 64), call_of(30, 16)})).finding;
  EXPECT_EQ(f.signature.kind, FailKind::history);
  EXPECT_EQ(f.plan, plain_plan({call_of(1, 16), call_of(1, 64)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
  EXPECT_NE(f.reason.find("call 2"), std::string::npos) << f.reason;
}

// A later call with a smaller C writes over the outputs of an earlier one.
TEST(Triage, WritesCallsDownInTheOrderInWhichALaterOneSpoilsAnEarlierOne) {
  TriageCase c([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    Observation o = all_right(plan, trial);
    std::int64_t least = 64;  // of the calls that run later
    const auto order = calls_of_trial(plan, trial);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const std::int64_t own = get(it->second.dims, "C");
      if (least < own) ++o.calls[static_cast<std::size_t>(it->first)].buffers.back().digest;
      least = std::min(least, own);
    }
    return o;
  });
  const Finding f = c.settle(plain_plan({call_of(30, 16), call_of(70, 64)})).finding;
  EXPECT_EQ(f.signature.kind, FailKind::history);
  EXPECT_EQ(f.plan, plain_plan({call_of(1, 32), call_of(1, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
  EXPECT_EQ(f.reason.rfind("'y' of call 1 (C = 32, N = 1) depends on the order of the calls", 0),
            0u)
      << f.reason;
}

TEST(Triage, NamesAReadOfUnwrittenMemory) {
  TriageCase c([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
      const bool reads = get(call.dims, "N") % 16 == 3;
      return right_digest(call) + (reads ? trial.mode.poison : 0);
    });
  });
  const Finding f = c.settle(busy_plan({call_of(64, 32), call_of(115, 32)})).finding;
  EXPECT_EQ(f.signature.kind, FailKind::uninitialized);
  EXPECT_EQ(f.plan, plain_plan({call_of(3, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
}

TEST(Triage, NamesADifferenceThatOnlyGatedLaunchesShow) {
  TriageCase c([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
      const bool late = trial.mode.launch == Launch::gated && get(call.dims, "N") > 64;
      return right_digest(call) + (late ? 1 : 0);
    });
  });
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.signature.kind, FailKind::async);
  Plan want = plain_plan({call_of(65, 16)});
  want.mode.launch = Launch::gated;
  EXPECT_EQ(f.plan, want) << print_plan(f.plan);
}

// Memory that is freed too early contains poison. The outputs alone look like a read of unwritten
// memory, but with blocking launches the failure does not show.
TEST(Triage, NamesWhatOnlyShowsUnsynchronizedByThat) {
  TriageCase c([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
      const bool freed = trial.mode.launch != Launch::blocking && get(call.dims, "N") > 64;
      return right_digest(call) + (freed ? trial.mode.poison : 0);
    });
  });
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.signature.kind, FailKind::async);
  EXPECT_EQ(f.plan.mode.launch, Launch::async);
}

TEST(Triage, KeepsTheLaunchModeThatAFaultNeeds) {
  TriageCase c([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    if (trial.mode.launch != Launch::gated) return all_right(plan, trial);
    return faults_above(64)(plan, trial, before);
  });
  const Finding f = c.settle(large()).finding;
  Plan want = plain_plan({call_of(65, 16)});
  want.mode.launch = Launch::gated;
  EXPECT_EQ(f.plan, want) << print_plan(f.plan);
  for (const auto& row : f.attribution)
    if (row.axis == "launch") {
      EXPECT_EQ(row.failed.k, row.value == "gated" ? 3 : 0) << row.value;
    }
}

// Half of the runs fail: too few for a reducer to trust a single pass.
TEST(Triage, ReducesWhatFailsHalfOfTheTime) {
  auto coin = std::make_shared<std::mt19937>(11);
  TriageCase c([coin](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    const bool heads = ((*coin)() & 1) != 0;
    return heads ? faults_above(64)(plan, trial, before) : all_right(plan, trial);
  });
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.state, FindingState::flaky);
  EXPECT_GE(f.reliability.n, 10);
  EXPECT_GT(f.reliability.k, 0);
  EXPECT_LT(f.reliability.k, f.reliability.n);
  EXPECT_EQ(f.plan, plain_plan({call_of(65, 16)})) << print_plan(f.plan);
}

// With smaller sizes it writes before y instead of reading behind x, and with the smallest it
// hangs: smaller plans fail as well, but with another bug.
TEST(Triage, NeverSlipsToAnotherBug) {
  TriageCase c([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    std::optional<Observation> worst;
    for (const auto& [index, call] : calls_of_trial(plan, trial)) {
      const auto n = get(call.dims, "N");
      if (n > 64) return faulted(fault_at(index, "x", Access::read, Side::after));
      if (n > 8) return faulted(fault_at(index, "y", Access::write, Side::before));
      return ended(End::hang);
    }
    return all_right(plan, trial);
  });
  const Finding f = c.settle(plain_plan({call_of(900, 64)})).finding;
  EXPECT_EQ(f.signature.text(), "illegal-access: read after x in k (t)");
  EXPECT_EQ(f.plan, plain_plan({call_of(65, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
}

TEST(Triage, PutsTheMoreSpecificKindFirst) {
  TriageCase c([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    auto o = outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
      return right_digest(call) + trial.mode.poison;
    });
    for (auto& call : o.calls) call.buffers[1].dirty_after = 8;
    return o;
  });
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.signature.kind, FailKind::redzone);
  EXPECT_EQ(f.signature.side, "after");
  EXPECT_EQ(f.plan, plain_plan({call_of(1, 16)})) << print_plan(f.plan);
}

// If the plan is a palindrome, both orders make the same mistake, so only the reference finds it;
// the reduced plan is none, so there the order shows it.
TEST(Triage, NamesTheReducedPlanByTheMostSpecificOracle) {
  TriageCase c([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    std::vector<std::int32_t> wrong;
    const auto made = calls_of_trial(plan, trial);
    for (const auto& [index, call] : made)
      if (get(call.dims, "C") != get(made.front().second.dims, "C")) wrong.push_back(index);
    auto o = all_right(plan, trial);
    for (auto index : wrong) {
      auto& call = o.calls[static_cast<std::size_t>(index)];
      call.buffers[1].digest += 1;
      if (trial.reference) call.references = {{.tensor = "y", .numel = 8, .mismatches = 8}};
    }
    return o;
  });
  Plan plan = plain_plan({call_of(10, 16), call_of(20, 64), call_of(10, 16)});
  const auto [f, is_new, other, now] = c.settle(plan);
  EXPECT_TRUE(is_new);
  EXPECT_EQ(f.signature.text(), "history: y (t)");
  EXPECT_EQ(f.oracle, "history");
  EXPECT_EQ(f.state, FindingState::confirmed);
  EXPECT_TRUE(f.plan == plain_plan({call_of(1, 16), call_of(1, 32)}) ||
              f.plan == plain_plan({call_of(1, 32), call_of(1, 16)}))
      << print_plan(f.plan);
  ASSERT_EQ(c.sink.updates.size(), 3u);
  EXPECT_EQ(c.sink.updates[0].signature.kind, FailKind::reference);
}

TEST(Triage, SaysWhenTheBudgetEndedFirst) {
  TriageOptions options = patient();
  options.reduce_evaluations = 2;
  TriageCase c(faults_above(64), options);
  const Finding f = c.settle(large()).finding;
  EXPECT_FALSE(f.minimal);
  EXPECT_EQ(f.reduction.end, ReductionEnd::plans);
  EXPECT_GE(f.reduction.plans, 2);
  EXPECT_GE(f.reduction.trials, f.reduction.plans);
  EXPECT_EQ(f.state, FindingState::confirmed);
  EXPECT_EQ(f.reliability, (Reliability{10, 10}));
}

// The worker's C++ statics hold the C of the first call it ever made; a plan of one C alone passes.
TEST(Triage, FindsWhatOnlyTheHistoryOfTheWorkerShows) {
  TriageCase c([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    std::vector<Call> history = before;
    for (const auto& [index, call] : calls_of_trial(plan, trial)) {
      history.push_back(call);
      if (get(history.front().dims, "C") == 64 && get(call.dims, "C") == 16)
        return faulted(fault_at(index, "x", Access::read, Side::after));
    }
    return all_right(plan, trial);
  });
  c.run_before(busy_plan({call_of(300, 64)}));
  c.run_before(busy_plan({call_of(200, 32), call_of(100, 64)}));
  const Finding f = c.settle(busy_plan({call_of(50, 16), call_of(60, 32)})).finding;
  EXPECT_TRUE(f.needs_history);
  EXPECT_EQ(f.state, FindingState::confirmed);
  EXPECT_EQ(f.plan, plain_plan({call_of(1, 64), call_of(1, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
}

// A finding that could not be judged again stays a suspect: not judged is not passed.
TEST(Triage, WhatCannotBeRunAgainStaysASuspect) {
  auto times = std::make_shared<int>(0);
  for (const End end : {End::worker_error, End::out_of_memory}) {
    *times = 0;
    TriageCase c([=](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
      return (*times)++ == 0 ? faults_above(64)(plan, trial, before) : redzone::testing::ended(end);
    });
    EXPECT_EQ(c.settle(large()).finding.state, FindingState::suspect);
  }
}

TEST(Triage, DoesNotConfirmWhatHappenedOnce) {
  auto times = std::make_shared<int>(0);
  TriageCase c([times](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    return (*times)++ == 0 ? faults_above(64)(plan, trial, before) : all_right(plan, trial);
  });
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.state, FindingState::unconfirmed);
  EXPECT_EQ(f.signature.kind, FailKind::illegal_access);
  EXPECT_EQ(f.plan, large());
  EXPECT_FALSE(f.minimal);
  EXPECT_EQ(c.sink.findings.at(f.id).state, FindingState::unconfirmed);
}

TEST(Triage, LeavesASuspectWhereItIsStoppedBeforeItIsConfirmed) {
  TriageOptions options = patient();
  options.stop = [] { return true; };
  auto times = std::make_shared<int>(0);
  TriageCase c(
      [times](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
        return (*times)++ == 0 ? faults_above(64)(plan, trial, before) : all_right(plan, trial);
      },
      options);
  EXPECT_EQ(c.settle(large()).finding.state, FindingState::suspect);
}

TEST(Triage, KeepsWhatIsConfirmedWhenItIsStoppedBeforeItIsReduced) {
  TriageOptions options = patient();
  options.stop = [] { return true; };
  TriageCase c(faults_above(64), options);
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.state, FindingState::confirmed);
  EXPECT_FALSE(f.minimal);
  EXPECT_EQ(c.sink.findings.at(f.id).state, FindingState::confirmed);
}

TEST(Triage, DoesNotReduceAgainWhatIsSettled) {
  TriageCase c(faults_above(64));
  Signature known;
  known.kind = FailKind::illegal_access;
  known.target = "t";
  known.where = "k";
  known.buffer = "x";
  known.side = "after";
  known.access = "read";
  c.sink.settled_signatures.push_back(known);
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.state, FindingState::confirmed);
  EXPECT_EQ(std::count(c.journal.begin(), c.journal.end(), "evidence final"), 0);
  EXPECT_EQ(calls_of(f.plan).size(), calls_of(large()).size());
}

TEST(Triage, WaitsForAHangOnlyWhereItMustBeSure) {
  TriageOptions options = patient();
  TriageCase c(
      [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
        for (const auto& [index, call] : calls_of_trial(plan, trial))
          if (get(call.dims, "N") > 64) return ended(End::hang);
        return all_right(plan, trial);
      },
      options);
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.signature.kind, FailKind::hang);
  EXPECT_EQ(f.plan, plain_plan({call_of(65, 16)})) << print_plan(f.plan);
  const auto& deadlines = c.executor.fresh_deadlines();
  EXPECT_EQ(std::count(deadlines.begin(), deadlines.end(), options.deadline),
            2 * options.confirm_runs)
      << "to confirm it and to measure what it was reduced to";
  EXPECT_EQ(f.reliability.n, options.confirm_runs);
}

// A trial that the harness could not run counts neither as a pass nor as a failure.
TEST(Triage, CountsNoHarnessErrorAsARun) {
  auto times = std::make_shared<int>(0);
  TriageCase c([times](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    return ++*times % 7 == 0 ? ended(End::worker_error, "no worker")
                             : faults_above(64)(plan, trial, before);
  });
  const Finding f = c.settle(large()).finding;
  EXPECT_LT(f.reliability.n, 10);
  EXPECT_EQ(f.reliability.k, f.reliability.n);
  EXPECT_EQ(f.state, FindingState::confirmed);
}

TEST(Triage, ReducesAStoredFindingFurther) {
  TriageOptions options = patient();
  options.reduce_evaluations = 2;
  TriageCase c(faults_above(64), options);
  Finding f = c.settle(large()).finding;
  ASSERT_FALSE(f.minimal);
  const TargetSpec spec = small_spec();
  const oracles::Catalog catalog;
  Triage again(c.executor, catalog, real_simplify(), c.sink, patient());
  const auto settled = again.reduce_again(f, spec);
  ASSERT_TRUE(settled) << settled.error().message;
  const Finding& reduced = settled->finding;
  EXPECT_TRUE(reduced.minimal);
  EXPECT_EQ(reduced.reduction.end, ReductionEnd::minimal);
  EXPECT_EQ(reduced.plan, plain_plan({call_of(65, 16)})) << print_plan(reduced.plan);
  EXPECT_EQ(c.sink.findings.at(f.id).plan, reduced.plan);
}

// The reduced plan also shows a second bug, of a more specific kind than the finding.
TEST(Triage, ReducesAStoredFindingUnderItsOwnName) {
  const Bug two_bugs = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    auto o = outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
      // Only small calls depend on the poison.
      return right_digest(call) + (get(call.dims, "N") < 100 ? trial.mode.poison : 0);
    });
    for (const auto& [index, call] : calls_of_trial(plan, trial))
      if (trial.reference && get(call.dims, "N") > 64)
        o.calls[static_cast<std::size_t>(index)].references = {
            {.tensor = "y", .numel = 8, .mismatches = 8}};
    if (trial.reference)
      for (auto& call : o.calls) call.comparison = Comparison::compared;
    return o;
  };
  TriageCase c(two_bugs);
  Finding f;
  f.signature = {FailKind::reference, "t", "", "y", "", ""};
  f.oracle = "reference";
  f.state = FindingState::confirmed;
  f.plan = f.original = large();
  f.id = c.sink.record(f)->id;
  TargetSpec spec = small_spec();
  spec.has_reference = true;
  const oracles::Catalog catalog;
  Triage again(c.executor, catalog, real_simplify(), c.sink, patient());
  const auto settled = again.reduce_again(f, spec);
  ASSERT_TRUE(settled) << settled.error().message;
  const Finding& reduced = settled->finding;
  EXPECT_EQ(reduced.signature, f.signature) << reduced.signature.text();
  EXPECT_EQ(reduced.reduction.end, ReductionEnd::minimal);
  EXPECT_EQ(reduced.plan, plain_plan({call_of(65, 16)})) << print_plan(reduced.plan);
}

// Smaller plans write before y; no plan of the screen does.
Bug two_faults() {
  const Bug fault = faults_above(64);
  return [fault](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    for (const auto& [index, call] : calls_of_trial(plan, trial))
      if (get(call.dims, "N") < 10)
        return faulted(fault_at(index, "y", Access::write, Side::before));
    return fault(plan, trial, before);
  };
}

TEST(Triage, KeepsTheFirstFailureThatSmallerPlansShowBesides) {
  TriageCase c(two_faults());
  const auto [f, is_new, other, now] = c.settle(large());
  EXPECT_EQ(f.signature.text(), "illegal-access: read after x in k (t)");
  EXPECT_EQ(f.plan, plain_plan({call_of(65, 16)})) << print_plan(f.plan);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->verdict.signature.text(), "illegal-access: write before y in k (t)");
  EXPECT_LT(get(calls_of(other->plan).front()->call.dims, "N"), 10);
  EXPECT_EQ(c.sink.findings.size(), 1u);
}

TEST(Triage, HasNoOtherFailureWhereAllRunsFailAlike) {
  TriageCase c(faults_above(64));
  EXPECT_FALSE(c.settle(large()).other);
}

// The reduction was interrupted before the smaller plan was measured. It is kept with the one run
// in which it failed: the counts of the confirmed plan must not be reported for another plan.
TEST(Triage, CountsOfOnePlanAreNotSaidOfAnother) {
  bool over = false;
  TriageOptions options = patient();
  options.cut_off = [&] { return over; };
  options.stop = [&] { return over; };
  const Bug fault = faults_above(64);
  TriageCase* at_work = nullptr;
  int after_it_was_confirmed = 0;
  TriageCase c(
      [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
        const auto& done = at_work->journal;
        if (std::find(done.begin(), done.end(), "evidence confirm") != done.end())
          over = ++after_it_was_confirmed > 10;
        return fault(plan, trial, before);
      },
      options);
  at_work = &c;
  const auto f = c.settle(large()).finding;
  ASSERT_TRUE(over);
  EXPECT_EQ(f.state, FindingState::confirmed);
  EXPECT_EQ(f.reliability, (Reliability{1, 1}));
  EXPECT_EQ(calls_of(f.plan).size(), 1u) << print_plan(f.plan);
  EXPECT_FALSE(f.minimal);
  EXPECT_EQ(f.reduction.end, ReductionEnd::interrupted);
}

// The stored plan itself fails, but only in another way.
// Nothing is simpler than this plan, so the runs that were to measure the reduced one are of the
// same.
TEST(Triage, RunsOfTheSamePlanThatPassLaterCount) {
  const RecordingSink* sink = nullptr;
  TriageCase c([&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    Observation o = all_right(plan, trial);
    const bool is_confirmed = sink != nullptr && !sink->updates.empty();
    if (!is_confirmed) o.calls.back().buffers.back().dirty_after = 4;
    return o;
  });
  sink = &c.sink;
  const Finding f = c.settle(plain_plan({call_of(1, 16)})).finding;
  const Reliability confirmed = c.sink.updates.front().reliability;
  EXPECT_EQ(confirmed.k, confirmed.n);
  EXPECT_EQ(f.state, FindingState::flaky);
  EXPECT_EQ(f.reliability.k, confirmed.k);
  EXPECT_GE(f.reliability.n, confirmed.n + patient().final_runs);
}

TEST(Triage, ReducingWhatFailsOtherwiseNowKeepsTheOtherFailure) {
  TriageCase before(faults_above(64)), now(two_faults());
  Finding f = before.settle(large()).finding;
  f.plan = plain_plan({call_of(5, 16)});
  f.id = now.sink.record(f)->id;
  const TargetSpec spec = small_spec();
  const oracles::Catalog catalog;
  Triage again(now.executor, catalog, real_simplify(), now.sink, patient());
  const auto settled = again.reduce_again(f, spec);
  ASSERT_TRUE(settled) << settled.error().message;
  EXPECT_EQ(settled->finding.state, FindingState::unconfirmed);
  ASSERT_TRUE(settled->other);
  EXPECT_EQ(settled->other->verdict.signature.text(), "illegal-access: write before y in k (t)");
}

TEST(Triage, DoesNotKnowTheOracleOfAnotherBuild) {
  TriageCase c(faults_above(64));
  Finding f = c.settle(large()).finding;
  f.oracle = "astrology";
  const TargetSpec spec = small_spec();
  const oracles::Catalog catalog;
  Triage again(c.executor, catalog, real_simplify(), c.sink, patient());
  const auto reduced = again.reduce_again(f, spec);
  ASSERT_FALSE(reduced);
  EXPECT_NE(reduced.error().message.find("astrology"), std::string::npos);
}

}  // namespace
}  // namespace redzone::campaign
