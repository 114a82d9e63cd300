// The loop: what is counted, and what is stored and when.
#include "campaign/campaign.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "campaign/campaign_case.h"
#include "core/plan_text.h"
#include "core/spec_mistake.h"

namespace redzone::campaign {
namespace {

using namespace testing;
using redzone::testing::ended;
using redzone::testing::faulted;

TEST_F(CampaignTest, FindsReducesAndCountsABugInGeneratedPlans) {
  const auto result = run(faults_above(64), generated());
  EXPECT_EQ(result.stats.plans, 40u);
  EXPECT_EQ(result.stats.trials, 80u - result.stats.fail);
  EXPECT_GT(result.stats.fail, 1u);
  EXPECT_EQ(result.stats.suspects, result.stats.fail);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.new_ids, std::vector<std::int64_t>{1});
  EXPECT_EQ(result.stats.new_findings, 1u);
  const auto& f = sink_.findings.at(1);
  EXPECT_EQ(f.plan, plain_plan({call_of(65, 16)})) << print_plan(f.plan);
  EXPECT_EQ(f.occurrences, static_cast<std::int64_t>(result.stats.suspects));
  EXPECT_FALSE(result.stopped);
}

TEST_F(CampaignTest, FindsNothingInACorrectTarget) {
  const auto result = run([](const Plan& plan, const TrialSpec& trial,
                             const std::vector<Call>&) { return all_right(plan, trial); },
                          generated());
  EXPECT_EQ(result.stats.pass, 40u);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_TRUE(sink_.findings.empty());
}

TEST_F(CampaignTest, CountsNoWorkersThatWereLostBeforeIt) {
  FakeExecutor executor(faults_above(2000));
  executor.lose(2);
  Campaign campaign(executor, catalog_, real_simplify(), sink_, generated(), options_);
  const auto result = campaign.run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stats.workers_lost, 0u);
}

TEST_F(CampaignTest, AsksWhetherItReducesAFindingAndGoesOnMeanwhile) {
  int asked = 0;
  options_.triage.reduces = [&](const Signature& signature) -> std::optional<bool> {
    EXPECT_EQ(signature.kind, FailKind::illegal_access);
    if (++asked < 5) return std::nullopt;
    return true;
  };
  const auto result = run(faults_above(64), generated());
  EXPECT_EQ(asked, 5);
  EXPECT_EQ(result.stats.plans, 40u);
  EXPECT_EQ(sink_.findings.at(1).plan, plain_plan({call_of(65, 16)}));
}

TEST_F(CampaignTest, ConfirmsButDoesNotReduceWhatAnotherMachineReduces) {
  options_.triage.reduces = [](const Signature&) { return false; };
  run(faults_above(64), generated());
  ASSERT_EQ(sink_.findings.size(), 1u);
  EXPECT_EQ(sink_.findings.at(1).state, FindingState::confirmed);
  EXPECT_FALSE(sink_.findings.at(1).minimal);
}

TEST_F(CampaignTest, StoresWhatItFoundBeforeItConfirms) {
  run(faults_above(64), listed({plain_plan({call_of(10, 16)}), plain_plan({call_of(99, 16)})}));
  const auto recorded = std::find(journal_.begin(), journal_.end(), "record");
  const auto asked = std::find(journal_.begin(), journal_.end(), "fresh");
  ASSERT_NE(recorded, journal_.end());
  ASSERT_NE(asked, journal_.end());
  EXPECT_LT(recorded, asked);
}

TEST_F(CampaignTest, TellsTheSinkWhenItWasFirstSeen) {
  run(faults_above(64), listed({plain_plan({call_of(10, 16)}), plain_plan({call_of(11, 16)}),
                                plain_plan({call_of(99, 16)})}));
  EXPECT_EQ(sink_.findings.at(1).plans_to_first, 3u);
}

// Hangs at N = 7 and faults above 64.
Observation hangs_or_faults(const Plan& plan, const TrialSpec& trial,
                            const std::vector<Call>& before) {
  for (const auto& [index, call] : calls_of_trial(plan, trial))
    if (get(call.dims, "N") == 7) return ended(End::hang);
  return faults_above(64)(plan, trial, before);
}

TEST_F(CampaignTest, RecordsAHangAtOnceAndLooksIntoItLast) {
  const auto result =
      run(hangs_or_faults, listed({plain_plan({call_of(7, 16)}), plain_plan({call_of(99, 16)})}));
  ASSERT_EQ(result.findings.size(), 2u);
  EXPECT_EQ(result.findings[0].signature.kind, FailKind::illegal_access);
  EXPECT_EQ(result.findings[1].signature.kind, FailKind::hang);
  EXPECT_EQ(result.findings[1].state, FindingState::confirmed);
  EXPECT_EQ(result.new_ids, (std::vector<std::int64_t>{2, 1}));  // recorded first, settled last
  EXPECT_EQ(sink_.findings.at(1).signature.kind, FailKind::hang);
  EXPECT_EQ(result.stats.plans, 40u);
}

TEST_F(CampaignTest, LooksIntoAHangInTheLastPartOfItsTime) {
  options_.plans_per_target = 0;
  options_.time = std::chrono::milliseconds(400);
  options_.triage.reduce_time = std::chrono::milliseconds(20);
  const auto result = run(hangs_or_faults, listed({plain_plan({call_of(7, 16)})}));
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].state, FindingState::confirmed);
  EXPECT_GT(result.stats.plans, 1u);
}

TEST_F(CampaignTest, KeepsAHangThatThereIsNoTimeForAsASuspect) {
  options_.plans_per_target = 0;
  options_.time = std::chrono::milliseconds(50);
  options_.hang_share = 0;
  const auto result = run(hangs_or_faults, listed({plain_plan({call_of(7, 16)})}));
  EXPECT_EQ(sink_.findings.at(1).state, FindingState::suspect);
  EXPECT_GT(result.stats.suspects, 1u);
  EXPECT_EQ(result.findings.size(), 1u);
}

TEST_F(CampaignTest, ATargetThatHangsPaysForItsDeadlines) {
  // By their time alone the targets would take turns.
  std::vector<TargetUnderTest> targets;
  for (std::int64_t n : {7, 10})
    targets.push_back(
        {&spec_, std::make_unique<ListedPlans>(std::vector{plain_plan({call_of(n, 16)})}), {}});
  std::uint64_t hangs = 0;
  options_.plans_per_target = 0;
  options_.time = std::chrono::milliseconds(100);
  options_.hang_share = 0;
  const auto result = run(
      [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
        Observation o = hangs_or_faults(plan, trial, before);
        o.wall_us =
            o.end == End::hang ? 1000 * static_cast<std::uint64_t>(options_.deadline.count()) : 100;
        hangs += o.end == End::hang ? 1 : 0;
        return o;
      },
      std::move(targets));
  EXPECT_GT(result.stats.pass, 2u);
  EXPECT_LE(hangs, 2 + result.stats.pass / 1000);
}

TEST_F(CampaignTest, PlansOfAnEarlierPartCountTowardsTheirNumber) {
  std::optional<std::uint64_t> left;
  options_.progress = [&](const Progress& p) { left = p.plans_left; };
  for (const auto& [before, more] : {std::pair{35u, 5u}, std::pair{40u, 0u}, std::pair{90u, 0u}}) {
    auto targets = generated();
    targets.front().plans_before = before;
    EXPECT_EQ(run(faults_above(1 << 20), std::move(targets)).stats.plans, more) << before;
    EXPECT_EQ(left, 0u);
  }
}

TEST_F(CampaignTest, DoesNotRunTheSecondTrialBehindAFault) {
  options_.plans_per_target = 1;
  std::uint64_t screened = 0;
  run(
      [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
        const auto submits = std::count(journal_.begin(), journal_.end(), "submit");
        const auto fresh = std::count(journal_.begin(), journal_.end(), "fresh");
        screened += submits == 1 && fresh == 0 ? 1 : 0;
        return faults_above(64)(plan, trial, before);
      },
      listed({plain_plan({call_of(99, 16)})}));
  EXPECT_EQ(screened, 1u);
  EXPECT_EQ(sink_.findings.at(1).state, FindingState::confirmed);
}

TEST_F(CampaignTest, TellsItsProgressDuringTriage) {
  options_.plans_per_target = 1;
  std::size_t told_before = 0, told = 0;
  bool slept = false;
  options_.progress = [&](const Progress&) { ++told; };
  run(
      [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
        const bool triage = std::count(journal_.begin(), journal_.end(), "fresh") > 0;
        if (triage && !std::exchange(slept, true)) {
          told_before = told;
          std::this_thread::sleep_for(std::chrono::milliseconds(600));
        }
        return faults_above(64)(plan, trial, before);
      },
      listed({plain_plan({call_of(99, 16)})}));
  EXPECT_TRUE(slept);
  EXPECT_GE(told, told_before + 2);  // one in the triage, one at the end
}

TEST_F(CampaignTest, KeepsTwoBugsApart) {
  const auto result = run(two_bugs(), generated());
  ASSERT_EQ(sink_.findings.size(), 2u);
  EXPECT_EQ(result.new_ids.size(), 2u);
  std::int64_t occurrences = 0;
  std::vector<Plan> plans;
  for (const auto& [id, f] : sink_.findings) {
    occurrences += f.occurrences;
    plans.push_back(f.plan);
  }
  EXPECT_EQ(occurrences, static_cast<std::int64_t>(result.stats.suspects));
  EXPECT_EQ(std::count(plans.begin(), plans.end(), plain_plan({call_of(1, 64)})), 1);
  EXPECT_EQ(std::count(plans.begin(), plans.end(), plain_plan({call_of(65, 16)})), 1);
}

// No plan that is generated writes before y; smaller ones do, which the reduction of the other bug
// runs.
TEST_F(CampaignTest, AFailureThatAReductionMeetsIsAFindingOfItsOwn) {
  const Bug bug = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    for (const auto& [index, call] : calls_of_trial(plan, trial)) {
      if (get(call.dims, "N") < 10)
        return faulted(fault_at(index, "y", Access::write, Side::before));
      if (get(call.dims, "N") > 64) return faulted(fault_at(index, "x", Access::read, Side::after));
    }
    return all_right(plan, trial);
  };
  const auto result = run(bug, listed({busy_plan({call_of(700, 16)})}));
  ASSERT_EQ(sink_.findings.size(), 2u);
  EXPECT_EQ(result.new_ids.size(), 2u);
  std::vector<Plan> plans;
  for (const auto& [id, f] : sink_.findings) {
    EXPECT_EQ(f.state, FindingState::confirmed);
    plans.push_back(f.plan);
  }
  EXPECT_EQ(std::count(plans.begin(), plans.end(), plain_plan({call_of(65, 16)})), 1);
  EXPECT_EQ(std::count(plans.begin(), plans.end(), plain_plan({call_of(1, 16)})), 1);
}

// The screen says the same of both: two runs differ. The first is triaged at once, and the second
// when the fourth suspect of that look is looked at again.
TEST_F(CampaignTest, LooksAgainAtDifferencesThatLookTheSame) {
  const Bug bug = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
      const bool unwritten = get(call.dims, "C") == 16;
      const bool late = get(call.dims, "C") == 32 && trial.mode.launch == Launch::gated;
      return right_digest(call) + (unwritten ? trial.mode.poison : 0) + (late ? 1 : 0);
    });
  };
  const Plan one = plain_plan({call_of(9, 16)});
  const Plan other = plain_plan({call_of(9, 32)});
  // With room, all are screened before the first is confirmed.
  for (const bool room : {false, true}) {
    options_.screen_leaves_room = room;
    sink_ = RecordingSink(&journal_);
    run(bug, listed({one, other, other, other, other}));
    ASSERT_EQ(sink_.findings.size(), 2u) << room;
    EXPECT_EQ(sink_.findings.at(1).signature.kind, FailKind::uninitialized);
    EXPECT_EQ(sink_.findings.at(2).signature.kind, FailKind::async);
  }
}

// A part of the reduction ends before a few of its trials do. The fourth suspect is looked at
// again.
TEST_F(CampaignTest, TakesUpAnUnfinishedReductionBeforeItConfirmsTheBugAgain) {
  options_.triage.reduce_time = std::chrono::milliseconds(80);
  std::vector<Reduction> told;
  options_.found = [&](const Finding& f, double) { told.push_back(f.reduction); };
  const Bug bug = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    return outputs(plan, trial, {}, [&](const Call& call, const std::vector<Call>&) {
      return right_digest(call) + (get(call.dims, "C") == 16 ? trial.mode.poison : 0);
    });
  };
  const Plan plan = busy_plan({call_of(10, 64), call_of(700, 64), call_of(64, 32), call_of(9, 16)});
  const auto result = run(bug, listed({plan, plan, plan, plan, plan}));
  ASSERT_EQ(sink_.findings.size(), 1u);
  ASSERT_GE(told.size(), 2u);
  EXPECT_EQ(told[0].end, ReductionEnd::none);
  EXPECT_EQ(told[1].end, ReductionEnd::time);
  const Reduction& now = sink_.findings.at(1).reduction;
  EXPECT_GT(now.plans, told[1].plans);
  EXPECT_GT(now.trials, told[1].trials);
  EXPECT_EQ(result.findings[0].reduction, now);
  EXPECT_EQ(result.stats.new_findings, 1u);
}

// Suspects of two kinds that are one bug are one finding, which is told twice: confirmed, reduced.
TEST_F(CampaignTest, WhatIsNamedAlikeIsOneFindingAndRefinedOnce) {
  int told = 0;
  options_.found = [&](const Finding& f, double) {
    ++told;
    EXPECT_EQ(f.signature.kind, FailKind::illegal_access);
  };
  const Plan canary = plain_plan({call_of(701, 16)}), fault = plain_plan({call_of(700, 16)});
  for (const auto& plans : {std::vector{canary, fault}, std::vector{fault, canary}}) {
    told = 0;
    sink_ = RecordingSink(&journal_);
    const auto result = run(writes_past_the_end(true), listed(plans));
    EXPECT_EQ(sink_.findings.size(), 1u);
    ASSERT_EQ(result.findings.size(), 1u);
    EXPECT_EQ(result.findings[0].plan, plain_plan({call_of(4, 16)}));
    EXPECT_EQ(result.stats.new_findings, 1u);
    EXPECT_EQ(result.stats.known_findings, 0u);
    EXPECT_EQ(told, 2);
  }
}

TEST_F(CampaignTest, ReportsAKnownBugAsKnown) {
  options_.plans_per_target = 5;
  const Plan plan = plain_plan({call_of(99, 16)});
  ASSERT_EQ(run(faults_above(64), listed({plan})).new_ids.size(), 1u);
  sink_.settled_signatures.push_back(sink_.findings.at(1).signature);
  const auto again = run(faults_above(64), listed({plan}));
  EXPECT_EQ(sink_.findings.size(), 1u);
  EXPECT_EQ(sink_.findings.at(1).occurrences, 10);
  EXPECT_EQ(again.findings.size(), 1u);
}

TEST_F(CampaignTest, CountsHarnessErrorsAndNeverAsPasses) {
  const auto result = run([](const Plan&, const TrialSpec&,
                             const std::vector<Call>&) { return ended(End::worker_error, "gone"); },
                          generated());
  EXPECT_EQ(result.stats.harness_errors, 40u);
  EXPECT_EQ(result.stats.pass, 0u);
  EXPECT_TRUE(sink_.findings.empty());
}

TEST_F(CampaignTest, CountsWhatIsNotApplicableAndNeverAsAPass) {
  for (auto end : {End::unsupported, End::out_of_memory}) {
    const auto result =
        run([end](const Plan&, const TrialSpec&, const std::vector<Call>&) { return ended(end); },
            generated());
    EXPECT_EQ(result.stats.not_applicable, 40u);
    EXPECT_EQ(result.stats.pass, 0u);
    EXPECT_TRUE(sink_.findings.empty());
  }
}

// Calls of more than 64 elements are too large for the reference.
Observation compares_small(const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
  Observation o = all_right(plan, trial);
  if (!trial.reference) return o;
  const auto calls = calls_of(plan);
  for (auto& call : o.calls) {
    const Dims& dims = calls[static_cast<std::size_t>(call.call)]->call.dims;
    call.comparison = get(dims, "N") > 64 ? Comparison::too_large : Comparison::compared;
  }
  return o;
}

TEST_F(CampaignTest, CountsTheCallsThatWereComparedOfEachTarget) {
  TargetSpec compared = small_spec(), large = small_spec(), without = small_spec();
  compared.has_reference = large.has_reference = true;
  compared.name = "compared";
  large.name = "large";
  without.name = "without";
  options_.plans_per_target = 2;
  std::vector<TargetUnderTest> targets;
  const auto add = [&](const TargetSpec& spec, std::vector<Plan> plans) {
    for (auto& plan : plans) plan.target = spec.name;
    targets.push_back({&spec, std::make_unique<ListedPlans>(std::move(plans)), {}});
  };
  add(compared, {plain_plan({call_of(10, 16), call_of(99, 16)}), plain_plan({call_of(11, 16)})});
  add(large, {plain_plan({call_of(99, 16)})});
  add(without, {plain_plan({call_of(10, 16)})});
  const auto result = run(compares_small, std::move(targets));
  ASSERT_EQ(result.targets.size(), 3u);
  EXPECT_EQ(result.targets[0].reference, (ReferenceCount{2, 3}));
  EXPECT_NE(result.targets[0].not_compared.find("is too large for it"), std::string::npos);
  EXPECT_EQ(result.targets[1].reference, (ReferenceCount{0, 2}));
  EXPECT_EQ(result.targets[1].pass, 2u) << "judged by others";
  EXPECT_EQ(result.targets[2].reference, ReferenceCount{});
  EXPECT_EQ(result.targets[2].not_compared, "");
  EXPECT_EQ(result.stats.reference, (ReferenceCount{2, 5}));
  EXPECT_EQ(result.targets[0].outputs, (OutputCount{1, 0}));
  EXPECT_EQ(result.targets[1].outputs, (OutputCount{2, 0}));
}

TEST_F(CampaignTest, SaysWhyPlansWereNotJudged) {
  options_.plans_per_target = 200;
  int trials = 0;
  const auto result = run(
      [&](const Plan&, const TrialSpec&, const std::vector<Call>&) {
        return ended(End::unsupported, "reason " + std::to_string(trials++));
      },
      generated());
  ASSERT_EQ(result.unjudged.size(), kMostReasons + 1);
  std::uint64_t plans = 0;
  for (const auto& u : result.unjudged) {
    EXPECT_EQ(u.target, spec_.name);
    EXPECT_EQ(u.outcome, Outcome::not_applicable);
    EXPECT_EQ(u.reason.empty(), &u == &result.unjudged.back());
    plans += u.plans;
  }
  EXPECT_EQ(plans, result.stats.not_applicable);
  EXPECT_NE(result.unjudged.front().reason.find("reason 0"), std::string::npos);
  EXPECT_EQ(result.unjudged.back().plans, 200 - kMostReasons);
}

// A shape of some dims, say. It costs the plan and neither the other plans nor the campaign.
TEST_F(CampaignTest, CountsAPlanThatCouldNotBeMadeAsAHarnessError) {
  class Throwing final : public PlanSource {
   public:
    explicit Throwing(const TargetSpec& spec) : plans_(spec) {}
    Plan next() override {
      if (++count_ % 4 == 0)
        throw SpecMistake(SpecMistake::Kind::of_the_call, "copy", "the work function", "threw",
                          "N = " + std::to_string(count_));
      return plans_.next();
    }

   private:
    GeneratedPlans plans_;
    int count_ = 0;
  };
  std::vector<TargetUnderTest> targets;
  targets.push_back({&spec_, std::make_unique<Throwing>(spec_), {}});
  const auto result = run([](const Plan& plan, const TrialSpec& trial,
                             const std::vector<Call>&) { return all_right(plan, trial); },
                          std::move(targets));
  EXPECT_EQ(result.stats.plans, 40u);
  EXPECT_EQ(result.stats.pass, 30u);
  EXPECT_EQ(result.stats.harness_errors, 10u);
  ASSERT_EQ(result.unjudged.size(), 1u);
  EXPECT_EQ(result.unjudged[0].reason, "target 'copy': the work function threw for N = 4");
  EXPECT_TRUE(result.unjudged[0].spec_error);
  EXPECT_EQ(result.unjudged[0].plans, 10u) << "it is named once, whatever the call";
  EXPECT_EQ(result.targets[0].spec_error, result.unjudged[0].reason);
}

// Functions that only a worker asks are asked before; what still comes from one is the same.
TEST_F(CampaignTest, AMistakeOfTheSpecIsOneWhoeverMeetsIt) {
  const auto right = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return all_right(plan, trial);
  };
  spec_.tensors[0].fill = Fill::integers([](const Dims& d) {
    return std::pair<std::int64_t, std::int64_t>{0, get(d, "N") > 8 ? -1 : 1};
  });
  const auto asked = run(right, generated());
  ASSERT_EQ(asked.unjudged.size(), 1u);
  EXPECT_TRUE(asked.unjudged[0].spec_error);
  EXPECT_NE(asked.unjudged[0].reason.find("the range of the fill of tensor"), std::string::npos);
  EXPECT_GT(asked.stats.pass, 0u);
  spec_.tensors[0].fill = {};
  const auto met = run([](const Plan&, const TrialSpec&,
                          const std::vector<Call>&) { return ended(End::spec_error, "no 'z'"); },
                       generated());
  ASSERT_EQ(met.unjudged.size(), 1u);
  EXPECT_TRUE(met.unjudged[0].spec_error);
  EXPECT_EQ(met.unjudged[0].reason, "no 'z'");
  EXPECT_TRUE(sink_.findings.empty());
}

// The workers of two plans differ in what they wrote before they ended.
TEST_F(CampaignTest, ACrashOfTheReferenceIsOneMistakeOfAllPlans) {
  int workers = 0;
  const auto result = run(
      [&](const Plan&, const TrialSpec&, const std::vector<Call>&) {
        Observation o = ended(End::spec_error);
        o.message = "target 't': reference() crashed with SIGSEGV; its output ends:\nworker " +
                    std::to_string(++workers);
        return o;
      },
      generated());
  EXPECT_TRUE(sink_.findings.empty());
  ASSERT_EQ(result.unjudged.size(), 1u);
  EXPECT_TRUE(result.unjudged[0].spec_error);
  EXPECT_EQ(result.unjudged[0].plans, 40u);
}

// The first target always fails and the second later: both are recorded before anything is refined.
TEST_F(CampaignTest, LooksAtEveryTargetBeforeItRefinesAnything) {
  options_.time = std::chrono::hours(1);
  options_.plans_per_target = 8;
  auto targets = listed({plain_plan({call_of(99, 16)})});
  const Plan passes = plain_plan({call_of(10, 16)}), fails = plain_plan({call_of(99, 16)});
  TargetSpec other = small_spec();
  other.name = "other";
  std::vector<Plan> late{passes, passes, passes, fails};
  for (auto& plan : late) plan.target = other.name;
  targets.push_back({&other, std::make_unique<ListedPlans>(late), {}});
  const auto result = run(faults_above(64), std::move(targets));
  EXPECT_EQ(result.new_ids.size(), 2u);
  const auto refined = std::find(journal_.begin(), journal_.end(), "evidence final");
  EXPECT_NE(refined, journal_.end());
  EXPECT_EQ(std::count(journal_.begin(), refined, "record"), 2);
  EXPECT_EQ(result.stats.plans, 16u);
}

TEST_F(CampaignTest, GivesEveryTargetItsPlans) {
  auto targets = generated();
  targets.push_back({&spec_, std::make_unique<GeneratedPlans>(spec_), {}});
  const auto result = run([](const Plan& plan, const TrialSpec& trial,
                             const std::vector<Call>&) { return all_right(plan, trial); },
                          std::move(targets));
  EXPECT_EQ(result.stats.plans, 80u);
}

TEST_F(CampaignTest, JudgesALaunchThatNoDeviceTakesWithoutOne) {
  spec_.geometry = [](const Dims& dims, const Config&) {
    LaunchDecl launch{.kernel = "k"};
    launch.block[0] = get(dims, "N");
    launch.grid[0] = 1;
    launch.shared_bytes = get(dims, "N") > 512 ? std::int64_t{1} << 30 : 0;
    return Geometry{{launch}, {}};
  };
  options_.plans_per_target = 3;
  const auto result = run(faults_above(2000), listed({plain_plan({call_of(900, 16)})}));
  EXPECT_EQ(result.stats.plans, 3u);
  EXPECT_EQ(result.stats.fail, 3u);
  EXPECT_EQ(executor_->trials(), 0u);
  ASSERT_EQ(sink_.findings.size(), 1u);
  const auto& f = sink_.findings.at(1);
  EXPECT_EQ(f.signature.kind, FailKind::launch_config);
  EXPECT_EQ(f.plan, plain_plan({call_of(513, 16)})) << print_plan(f.plan);
}

TEST_F(CampaignTest, TellsItsProgressAtTheEnd) {
  std::vector<Progress> heard;
  options_.progress = [&](const Progress& p) { heard.push_back(p); };
  run(faults_above(2000), generated());
  ASSERT_FALSE(heard.empty());
  EXPECT_EQ(heard.back().stats.plans, 40u);
  EXPECT_EQ(heard.back().plans_left, 0u);
  EXPECT_LT(heard.back().seconds_left, 0);
}

}  // namespace
}  // namespace redzone::campaign
