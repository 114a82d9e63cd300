// Which dependence a finding names, and how often it is reported to fail: for failures with a known
// cause, and for one without any.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "campaign/axis_test.h"
#include "campaign/fakes.h"
#include "campaign/listed_plans.h"
#include "campaign/triage.h"
#include "core/plan_text.h"

namespace redzone::campaign {
namespace {

using namespace testing;
using redzone::testing::ended;

// Each call is wrong with probability `rate`, in any mode and after any calls.
Bug wrong_at_random(double rate, std::uint64_t seed) {
  auto random = std::make_shared<std::mt19937_64>(seed);
  return [random, rate](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
      return right_digest(call) + std::bernoulli_distribution(rate)(*random);
    });
  };
}

std::vector<Finding> found_in_a_campaign(const Bug& bug) {
  static const TargetSpec spec = small_spec();
  FakeExecutor executor(bug);
  const oracles::Catalog catalog;
  RecordingSink sink;
  CampaignOptions options;
  options.plans_per_target = 400;
  std::vector<TargetUnderTest> targets;
  targets.push_back(
      {&spec,
       std::make_unique<ListedPlans>(std::vector{busy_plan({call_of(40, 16), call_of(90, 32)})}),
       {}});
  Campaign campaign(executor, catalog, real_simplify(), sink, std::move(targets), options);
  const auto result = campaign.run();
  EXPECT_TRUE(result);
  std::vector<Finding> found;
  for (const auto& [id, finding] : sink.findings)
    if (was_found(finding.state)) found.push_back(finding);
  return found;
}

TEST(Naming, WhatDependsOnNothingIsOneFindingAndNoSettingIsBlamed) {
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const auto found = found_in_a_campaign(wrong_at_random(0.01, seed));
    EXPECT_LE(found.size(), 1u) << "seed " << seed;
    for (const auto& f : found) {
      EXPECT_EQ(f.signature.kind, FailKind::nondeterministic) << f.signature.text();
      // A reduction that was taken back leaves only the few runs that confirmed the finding.
      if (f.reduction.end != ReductionEnd::taken_back) {
        EXPECT_LT(f.reliability.k, f.reliability.n);
      }
      ++seen;
    }
  }
  EXPECT_GE(seen, 8) << "one failing call in a hundred shows in 800 calls";
}

TEST(Naming, AScheduleThatMattersIsNamed) {
  const auto found =
      found_in_a_campaign([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
        return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
          return right_digest(call) + (trial.mode.schedule_seed % 2 == 0);
        });
      });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].signature.kind, FailKind::schedule) << found[0].signature.text();
}

// An output that follows a variable which nothing has written: another word in each trial, or one
// that what ran before decides about; the same one where the stack is filled.
Bug follows_the_stack(std::function<std::uint64_t(const TrialSpec&, std::size_t before)> left) {
  return [left](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>& before) {
      const bool filled = trial.mode.stack != Stack::as_left;
      return right_digest(call) +
             (filled ? static_cast<std::uint64_t>(trial.mode.stack) : left(trial, before.size()));
    });
  };
}

TEST(Naming, AVariableThatNothingHasWrittenIsNamedWhateverItLooksLike) {
  auto random = std::make_shared<std::mt19937_64>(1);
  const Bug looks_like[] = {
      follows_the_stack([random](const TrialSpec&, std::size_t) { return (*random)() % 4; }),
      follows_the_stack([](const TrialSpec& t, std::size_t) { return t.mode.schedule_seed % 2; }),
      follows_the_stack([](const TrialSpec&, std::size_t before) { return before > 0 ? 7 : 0; }),
      follows_the_stack(
          [](const TrialSpec& t, std::size_t) { return t.mode.launch == Launch::blocking; })};
  for (std::size_t i = 0; i < std::size(looks_like); ++i) {
    const auto found = found_in_a_campaign(looks_like[i]);
    ASSERT_EQ(found.size(), 1u) << i;
    EXPECT_EQ(found[0].signature.kind, FailKind::uninitialized_local)
        << i << ": " << found[0].signature.text();
    EXPECT_EQ(calls_of(found[0].plan).size(), 1u) << i;
    EXPECT_EQ(found[0].plan.mode.stack, Stack::filled) << i;
  }
}

// A comparison is false for NaN, and for what is left where launches are synchronized: there, where
// names are looked for first, only the other word differs.
TEST(Naming, AVariableThatIsComparedIsNamedByTheFiniteFill) {
  const Bug compared = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
      const bool left = trial.mode.launch != Launch::blocking;
      const bool is_true =
          trial.mode.stack == Stack::filled_finite || (trial.mode.stack == Stack::as_left && left);
      return right_digest(call) + is_true;
    });
  };
  const auto found = found_in_a_campaign(compared);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].signature.kind, FailKind::uninitialized_local) << found[0].signature.text();
}

// It does not hide a failure that the stack has no part in.
TEST(Naming, WhatFailsWithTheSameOnTheStackHasItsOwnName) {
  const Bug both = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
      const std::uint64_t local = trial.mode.stack == Stack::filled;
      return right_digest(call) + local + 2 * (trial.mode.schedule_seed % 2);
    });
  };
  std::set<FailKind> kinds;
  for (const auto& f : found_in_a_campaign(both)) kinds.insert(f.signature.kind);
  EXPECT_TRUE(kinds.contains(FailKind::schedule));
}

// A pinned argument that is rewritten too early: always wrong with blocked launches. The reduced
// plan launches asynchronously and fails only now and then.
TEST(Naming, ADependenceOnLaunchesIsKeptWhereTheReducedPlanFailsNowAndThen) {
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    auto random = std::make_shared<std::mt19937_64>(seed);
    const auto found = found_in_a_campaign(
        [random](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
          return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
            const bool gated = trial.mode.launch == Launch::gated;
            const bool late =
                trial.mode.launch == Launch::async && std::bernoulli_distribution(0.05)(*random);
            return right_digest(call) + (gated || late);
          });
        });
    for (const auto& f : found) {
      EXPECT_EQ(f.signature.kind, FailKind::async) << "seed " << seed << ": " << f.signature.text();
      ++seen;
    }
  }
  EXPECT_GE(seen, 16);
}

class AxisTestOf : public ::testing::Test {
 protected:
  AxisTest test(const char* oracle, Bug bug) {
    FakeExecutor executor(std::move(bug));
    const TargetSpec spec = small_spec();
    Evaluator evaluator(executor, spec, std::chrono::seconds(1));
    Plan plan = plain_plan({call_of(8, 16), call_of(9, 16)});
    plan.mode.launch = Launch::gated;
    const std::vector<AxisCandidate> one{{catalog_.find(oracle), plan}};
    const AxisTest result = test_axes(evaluator, one, catalog_.comparing().size(), false);
    trials_ = evaluator.trials();
    return result;
  }
  oracles::Catalog catalog_;
  std::int64_t trials_ = 0;
};

TEST_F(AxisTestOf, EveryAxisThatDecidesIsNamed) {
  const auto wrong_when = [](auto condition) -> Bug {
    return [=](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
      return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>& before) {
        return right_digest(call) + condition(trial, before);
      });
    };
  };
  EXPECT_TRUE(test("async", wrong_when([](const TrialSpec& t, const auto&) {
                     return t.mode.launch != Launch::blocking;
                   }))
                  .depends[0]);
  EXPECT_TRUE(test("uninitialized", wrong_when([](const TrialSpec& t, const auto&) {
                     return t.mode.poison == 0x3f3f3f3fu;
                   }))
                  .depends[0]);
  EXPECT_TRUE(test("placement", wrong_when([](const TrialSpec& t, const auto&) {
                     return t.mode.placement == Placement::guard_before;
                   }))
                  .depends[0]);
  EXPECT_TRUE(test("history",
                   wrong_when([](const TrialSpec&, const auto& before) { return !before.empty(); }))
                  .depends[0]);
}

// However many oracles judge: 10 runs with the change and 10 without, of three trials each.
TEST_F(AxisTestOf, AFailureThatAlwaysShowsIsDecidedByTheFirstLook) {
  const Bug bug = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
      return right_digest(call) + (trial.mode.placement == Placement::guard_before);
    });
  };
  EXPECT_TRUE(test("placement", bug).depends[0]);
  EXPECT_EQ(trials_, 2 * 10 * 3);
}

TEST_F(AxisTestOf, NoiseIsBlamedOnAnAxisInAtMostOneOfAHundred) {
  int blamed = 0;
  constexpr int kTimes = 400;
  for (int seed = 0; seed < kTimes; ++seed)
    blamed += test("placement", wrong_at_random(0.2, static_cast<std::uint64_t>(seed))).depends[0];
  EXPECT_LE(blamed, kTimes / 100);
}

TEST_F(AxisTestOf, RunsThatDifferUnvariedAreTold) {
  EXPECT_TRUE(test("schedule", wrong_at_random(0.05, 1)).differs_unvaried);
}

// The finding after triage, with its reliability.
Finding settle(const Bug& bug, Journal* journal = nullptr) {
  static const TargetSpec spec = small_spec();
  const TriageOptions options;
  FakeExecutor executor(bug, journal);
  const oracles::Catalog catalog;
  RecordingSink sink;
  const Plan plan = busy_plan({call_of(10, 16), call_of(700, 64)});
  Suspect suspect{plan, {}, catalog.screen().expand(plan, spec), nullptr, 0};
  executor.submit({8, plan, suspect.trials, options.deadline});
  suspect.verdict = catalog.screen().judge(plan, spec, executor.next({})->observations);
  Finding finding;
  finding.signature = suspect.verdict.signature;
  finding.oracle = suspect.verdict.oracle;
  finding.plan = finding.original = plan;
  finding.id = sink.record(finding)->id;
  Triage triage(executor, catalog, real_simplify(), sink, options);
  const auto settled = triage.run(finding, suspect, spec);
  EXPECT_TRUE(settled);
  return settled->finding;
}

// Faults in the trials, numbered from 1, for which `faults` returns true.
Bug faults_while(const std::function<bool(int)>& faults) {
  auto trials = std::make_shared<int>(0);
  return [=](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    return faults(++*trials) ? faults_above(64)(plan, trial, before) : all_right(plan, trial);
  };
}

TEST(Reliability, TheRunThatShowedAFailureIsNotItsConfirmation) {
  // Fails in the trials of the screen and in the first run of the triage, never afterwards.
  const Finding f = settle(faults_while([](int trial) { return trial <= 3; }));
  EXPECT_EQ(f.state, FindingState::unconfirmed);
  EXPECT_EQ(f.reliability.k, 0);
}

TEST(Reliability, WhatNoRunCouldConfirmStaysASuspect) {
  Journal journal;  // the first batch of fresh workers classifies, the second one confirms
  const Finding f = settle(
      [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
        return std::count(journal.begin(), journal.end(), "fresh") <= 1
                   ? faults_above(64)(plan, trial, before)
                   : ended(End::worker_error);
      },
      &journal);
  EXPECT_EQ(f.state, FindingState::suspect);
  EXPECT_EQ(f.reliability, Reliability{});
}

TEST(Reliability, IsMeasuredInAFixedNumberOfRuns) {
  EXPECT_EQ(settle(faults_above(64)).reliability, (Reliability{10, 10}));
  auto random = std::make_shared<std::mt19937_64>(5);
  const Finding f =
      settle([=](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
        return std::bernoulli_distribution(0.4)(*random) ? faults_above(64)(plan, trial, before)
                                                         : all_right(plan, trial);
      });
  EXPECT_EQ(f.reliability.n, TriageOptions().most_runs);
}

TEST(Reduction, FindsWhatFailsOnlyInTheOtherPlacementAndWithOtherData) {
  // With guard_after only large sizes fail; with guard_before and one data seed, all sizes do.
  const Finding f = settle([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    for (const auto& [index, call] : calls_of_trial(plan, trial)) {
      const bool small = trial.mode.placement == Placement::guard_before && call.seed == 2;
      if (get(call.dims, "N") > 64 || small)
        return redzone::testing::faulted(fault_at(index, "x", Access::read, Side::after));
    }
    return all_right(plan, trial);
  });
  Plan want = plain_plan({call_of(1, 16)});
  want.mode.placement = Placement::guard_before;
  std::get<CallStep>(want.steps[0]).call.seed = 2;
  EXPECT_EQ(f.plan, want) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
}

}  // namespace
}  // namespace redzone::campaign
