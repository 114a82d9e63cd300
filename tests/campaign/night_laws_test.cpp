// Invariants of the parts of a night that need no machine: shards, shares of time, rechecks.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>
#include <set>

#include "campaign/fakes.h"
#include "campaign/recheck.h"
#include "campaign/shard.h"
#include "campaign/shares.h"

namespace redzone::campaign {
namespace {

using namespace testing;
using redzone::testing::ended;

TEST(Shard, EachKeyHasOneOwner) {
  EXPECT_TRUE(rc::check("exactly one shard owns a key", [] {
    const int count = *rc::gen::inRange(1, 50);
    const auto key = *rc::gen::arbitrary<std::string>();
    int owners = 0;
    for (int i = 1; i <= count; ++i) owners += Shard{i, count}.owns(key);
    RC_ASSERT(owners == 1);
  }));
}

TEST(Shard, WorkIsSpread) {
  std::vector<int> owned(4);
  for (int key = 0; key < 4000; ++key)
    for (int i = 1; i <= 4; ++i)
      owned[static_cast<std::size_t>(i - 1)] += Shard{i, 4}.owns(std::to_string(key));
  for (const int n : owned) EXPECT_GT(n, 800);
}

TEST(Shard, NoTwoPartsOfANightHaveTheSameSeed) {
  EXPECT_TRUE(rc::check("seeds differ by shard and part", [] {
    const auto base = *rc::gen::arbitrary<std::uint64_t>();
    const int count = *rc::gen::inRange(1, 40);
    std::set<std::uint64_t> seeds;
    for (int i = 1; i <= count; ++i)
      for (int part = 0; part < 20; ++part)
        RC_ASSERT(seeds.insert(Shard{i, count}.seed(base, part)).second);
  }));
}

TEST(Shard, IsReadAsItIsWritten) {
  for (int n : {1, 2, 7, Shard::kMost})
    for (int i : {1, n}) {
      const auto shard = Shard::parse(Shard{i, n}.text());
      ASSERT_TRUE(shard) << i << "/" << n;
      EXPECT_EQ(shard->index, i);
      EXPECT_EQ(shard->count, n);
    }
  for (const char* text : {"", "1", "/", "0/3", "4/3", "x/y", "1/0", "-1/3", "1/3/5", "1/ 3",
                           "1/4097", "99999999999/99999999999", "1/3x"}) {
    const auto shard = Shard::parse(text);
    ASSERT_FALSE(shard) << text;
    EXPECT_EQ(shard.error().kind, ErrorKind::usage);
  }
}

rc::Gen<TargetPast> past() {
  return rc::gen::container<TargetPast>(
      rc::gen::map(rc::gen::pair(rc::gen::inRange(0, 4), rc::gen::inRange(0, 3)),
                   [](const std::pair<int, int>& p) {
                     return PastNight{100.0 * p.first, p.second};
                   }));
}
using Pasts = std::vector<TargetPast>;
rc::Gen<Pasts> pasts() {
  return rc::gen::nonEmpty(rc::gen::container<Pasts>(past()));
}

constexpr double kRounding = 1e-9;

TEST(Shares, SumToOneAndStarveNobody) {
  EXPECT_TRUE(rc::check("shares are shares", [] {
    const Pasts targets = *pasts();
    const auto shares = fuzz_shares(targets);
    RC_ASSERT(shares.size() == targets.size());
    RC_ASSERT(std::abs(std::accumulate(shares.begin(), shares.end(), 0.0) - 1) < kRounding);
    for (const double s : shares)
      RC_ASSERT(s >= 0.5 / static_cast<double>(targets.size()) - kRounding);
  }));
}

TEST(Shares, MoreFindingsNeverGetLessTime) {
  EXPECT_TRUE(rc::check("yield pays", [] {
    Pasts targets = *pasts();
    const auto i = *rc::gen::inRange<std::size_t>(0, targets.size());
    RC_PRE(!targets[i].empty());
    const double before = fuzz_shares(targets)[i];
    ++targets[i][*rc::gen::inRange<std::size_t>(0, targets[i].size())].findings;
    RC_ASSERT(fuzz_shares(targets)[i] >= before - kRounding);
  }));
}

TEST(Shares, AFindingOfLastNightIsWorthMoreThanAnOlderOne) {
  EXPECT_TRUE(rc::check("lately counts", [] {
    Pasts targets = *pasts();
    const auto i = *rc::gen::inRange<std::size_t>(0, targets.size());
    RC_PRE(targets[i].size() >= 2u);
    Pasts older = targets;
    ++targets[i].front().findings;
    ++older[i].back().findings;
    RC_ASSERT(fuzz_shares(targets)[i] >= fuzz_shares(older)[i] - kRounding);
  }));
}

TEST(Shares, WhoWentWithoutTonightGetsNoLessTomorrow) {
  EXPECT_TRUE(rc::check("waiting pays", [] {
    Pasts had = *pasts();
    const auto i = *rc::gen::inRange<std::size_t>(0, had.size());
    Pasts waited = had;
    for (std::size_t t = 0; t < had.size(); ++t) {
      had[t].insert(had[t].begin(), PastNight{100, 0});
      waited[t].insert(waited[t].begin(), PastNight{t == i ? 0.0 : 100, 0});
    }
    RC_ASSERT(fuzz_shares(waited)[i] >= fuzz_shares(had)[i] - kRounding);
  }));
}

TEST(Shares, TheLengthOfNightsAndTheOrderOfTargetsDoNotMatter) {
  EXPECT_TRUE(rc::check("only proportions count", [] {
    Pasts targets = *pasts();
    const auto before = fuzz_shares(targets);
    Pasts longer(targets.rbegin(), targets.rend());
    for (auto& target : longer)
      for (auto& night : target) night.device_seconds *= 60;
    const auto after = fuzz_shares(longer);
    for (std::size_t i = 0; i < before.size(); ++i)
      RC_ASSERT(std::abs(before[i] - after[before.size() - 1 - i]) < kRounding);
  }));
}

TEST(Shares, OneTargetHasAllOfIt) {
  EXPECT_EQ(fuzz_shares(Pasts{{}}), std::vector<double>{1.0});
  EXPECT_TRUE(fuzz_shares({}).empty());
}

class RecheckTest : public ::testing::Test {
 protected:
  Recheck ask(Bug bug, const Reliability& before,
              const std::optional<Signature>& expected = Signature{FailKind::illegal_access, "t",
                                                                   "k", "x", "after", "read"},
              std::int64_t passed = 0) {
    executor_ = std::make_unique<FakeExecutor>(std::move(bug));
    Evaluator evaluator(*executor_, spec_, std::chrono::seconds(1));
    const auto oracles =
        expected ? oracles_for(catalog_, *catalog_.find(oracle_), plan_, spec_) : catalog_.all();
    return recheck(evaluator, oracles, plan_, expected, before, passed);
  }

  Plan plan_ = plain_plan({call_of(128, 16)});

  std::string oracle_ = "fault";  // the oracle of the finding

  TargetSpec spec_ = small_spec();
  oracles::Catalog catalog_;
  std::unique_ptr<FakeExecutor> executor_;
};

TEST_F(RecheckTest, WhatStillFailsTakesFewRuns) {
  const auto r = ask(faults_above(64), {10, 10});
  EXPECT_EQ(r.outcome, ReplayOutcome::fails);
  EXPECT_EQ(r.failed, (Reliability{4, 4}));
  ASSERT_TRUE(r.failure);
  EXPECT_EQ(r.failure->signature.buffer, "x");
  EXPECT_EQ(ask(faults_above(64), {1, 10}).failed.n, 4) << "once it is seen no more are needed";
}

TEST_F(RecheckTest, WhatPassesOftenEnoughPasses) {
  const auto r = ask(faults_above(4096), {10, 10});
  EXPECT_EQ(r.outcome, ReplayOutcome::passes);
  EXPECT_EQ(r.failed, (Reliability{0, 4}));
  const auto rare = ask(faults_above(4096), {3, 10});
  EXPECT_EQ(rare.outcome, ReplayOutcome::passes);
  EXPECT_EQ(rare.failed.n, passes_needed({3, 10}));
  EXPECT_GT(rare.failed.n, 10);
}

TEST_F(RecheckTest, WhatWasSeenTooSeldomIsNotCalledFixed) {
  const auto r = ask(faults_above(4096), {1, 100});
  EXPECT_EQ(r.outcome, ReplayOutcome::unclear);
  EXPECT_EQ(r.failed.k, 0);
  EXPECT_NE(r.reason.find("100 runs passed"), std::string::npos) << r.reason;
}

TEST_F(RecheckTest, NightsAddUpUntilWhatIsRareIsCalledFixed) {
  const Signature bug{FailKind::illegal_access, "t", "k", "x", "after", "read"};
  const Reliability rare{5, 64};
  std::int64_t passed = 0;
  int nights = 1;
  for (;; ++nights) {
    const auto r = ask(faults_above(4096), rare, bug, passed);
    EXPECT_EQ(r.failed.k, 0);
    passed += r.failed.n;
    if (r.outcome == ReplayOutcome::passes) break;
    ASSERT_EQ(r.outcome, ReplayOutcome::unclear);
    ASSERT_LT(passed, passes_needed(rare)) << r.reason;
  }
  EXPECT_EQ(passed, passes_needed(rare));
  EXPECT_EQ(nights, (passes_needed(rare) + 99) / 100);
  EXPECT_EQ(ask(faults_above(4096), rare, bug, passed).failed.n, 4) << "each night looks again";
  EXPECT_EQ(ask(faults_above(64), rare, bug, passed).outcome, ReplayOutcome::fails);
}

TEST_F(RecheckTest, WhatFailsAtTimesIsFlaky) {
  int run = 0;
  const auto r = ask(
      [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
        return ++run % 2 == 0 ? all_right(plan, trial) : faults_above(64)(plan, trial, before);
      },
      {10, 10});
  EXPECT_EQ(r.outcome, ReplayOutcome::flaky);
  EXPECT_EQ(r.failed, (Reliability{2, 4}));
}

TEST_F(RecheckTest, AnotherBugIsAnAlarmAndNoPass) {
  const auto r =
      ask(faults_above(64), {10, 10}, Signature{FailKind::illegal_access, "t", "k", "y", "", ""});
  EXPECT_EQ(r.outcome, ReplayOutcome::otherwise);
  EXPECT_FALSE(r.failure);
  ASSERT_TRUE(r.other);
  EXPECT_EQ(r.other->verdict.signature.buffer, "x");
}

TEST_F(RecheckTest, AFaultIsAnAlarmThoughTheFindingsOracleCannotJudgeIt) {
  const Signature canary{FailKind::redzone, "t", "", "y", "after", "write"};
  oracle_ = "redzone";
  const auto r = ask(faults_above(64), {10, 10}, canary);
  EXPECT_EQ(r.outcome, ReplayOutcome::otherwise);
  ASSERT_TRUE(r.other);
  EXPECT_EQ(r.other->verdict.oracle, "fault");
  EXPECT_EQ(r.other->verdict.signature.kind, FailKind::illegal_access);
}

TEST_F(RecheckTest, APlanThatNoTrialRanOfDoesNotPass) {
  spec_.geometry = [](const Dims&, const Config&) {
    return Geometry{};
  };  // lets the launch-config oracle pass
  const auto gone = [](End end) {
    return [end](const Plan&, const TrialSpec&, const std::vector<Call>&) { return ended(end); };
  };
  EXPECT_EQ(ask(gone(End::out_of_memory), {}, std::nullopt).outcome, ReplayOutcome::not_applicable);
  const auto broken = ask(gone(End::worker_error), {}, std::nullopt);
  EXPECT_EQ(broken.outcome, ReplayOutcome::harness_error);
  oracle_ = "launch-config";
  const Signature grid{FailKind::launch_config, "t", "k", "", "grid", ""};
  EXPECT_EQ(ask(gone(End::out_of_memory), {4, 4}, grid).failed.n, 0);
  EXPECT_EQ(ask(faults_above(4096), {4, 4}, grid).outcome, ReplayOutcome::passes);
}

// The same rule as for the runs of a replay (core/run_result.h).
TEST_F(RecheckTest, NoPassMakesAnErrorOfTheHarnessGood) {
  const auto every_third = [](End end) {
    return
        [end, run = 0](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) mutable {
          return ++run % 3 == 0 ? ended(end) : all_right(plan, trial);
        };
  };
  const Signature bug{FailKind::illegal_access, "t", "k", "x", "after", "read"};
  const auto broken = ask(every_third(End::worker_error), {10, 10}, bug, 100);
  EXPECT_EQ(broken.failed, (Reliability{0, 3}));
  EXPECT_EQ(broken.outcome, ReplayOutcome::harness_error);
  const auto full = ask(every_third(End::out_of_memory), {10, 10}, bug, 100);
  EXPECT_EQ(full.failed, (Reliability{0, 3}));
  EXPECT_EQ(full.outcome, ReplayOutcome::not_applicable) << "nor one that nobody could judge";
}

// Wrong outputs never pass, whichever failure was recorded.
TEST_F(RecheckTest, WrongOutputsAreAnAlarmWhicheverOracleHadTheFinding) {
  spec_.has_reference = true;
  oracle_ = "redzone";
  const Signature canary{FailKind::redzone, "t", "", "y", "after", "write"};
  const auto wrong = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    Observation o = all_right(plan, trial);
    if (trial.reference)
      for (auto& call : o.calls)
        call.comparison = Comparison::compared,
        call.references = {{.tensor = "y", .numel = 16, .mismatches = 1}};
    return o;
  };
  const auto r = ask(wrong, {10, 10}, canary);
  EXPECT_EQ(r.outcome, ReplayOutcome::otherwise) << r.reason;
  ASSERT_TRUE(r.other);
  EXPECT_EQ(r.other->verdict.signature.kind, FailKind::reference);
  EXPECT_EQ(r.failed, (Reliability{0, 4})) << "which it does each time";
}

// A wrong output together with the recorded failure is no second bug; a fault is.
TEST(OwnAlarm, OnlyWhatIsShownDirectlyStandsBesideTheRecordedFailure) {
  Verdict wrong, fault;
  wrong.signature.kind = FailKind::reference;
  fault.signature.kind = FailKind::illegal_access;
  EXPECT_TRUE(is_own_alarm(wrong, false));
  EXPECT_FALSE(is_own_alarm(wrong, true));
  EXPECT_TRUE(is_own_alarm(fault, true));
}

// The end of the night's time ends runs that are under way.
TEST_F(RecheckTest, WhatIsEndedEarlyIsNotJudged) {
  executor_ = std::make_unique<FakeExecutor>(faults_above(4096));
  int asked = 0;
  Evaluator evaluator(*executor_, spec_, std::chrono::seconds(1), [&] { return ++asked > 0; });
  const std::vector<const Oracle*> fault{catalog_.find("fault")};
  const auto r =
      recheck(evaluator, fault, plan_,
              Signature{FailKind::illegal_access, "t", "k", "x", "after", "read"}, {10, 10});
  EXPECT_EQ(r.outcome, ReplayOutcome::not_run) << "no run of it was judged";
  EXPECT_NE(r.reason.find("no time was left"), std::string::npos) << r.reason;
}

TEST(JudgeByTool, WhatItReportsOfAnothersFindingIsAFailureOfItsOwn) {
  Answer report;
  report.verdict.outcome = Outcome::fail;
  report.verdict.oracle = "memcheck";
  report.verdict.signature = {FailKind::illegal_access, "t", "k", "x", "", "write"};
  report.trials.resize(1);
  report.observations.resize(1);
  report.observations.front().end = End::completed;
  const Plan plan = plain_plan({call_of(64, 16)});
  const Signature recorded{FailKind::redzone, "t", "", "y", "after", "write"};
  const auto other = judge_by_tool(plan, report, recorded);
  EXPECT_EQ(other.result, RunResult::other);
  ASSERT_TRUE(other.other);
  EXPECT_EQ(other.other->verdict.oracle, "memcheck");
  EXPECT_EQ(other.other->plan, plan);
  for (const auto& same : {std::optional(report.verdict.signature), std::optional<Signature>()}) {
    const auto judged = judge_by_tool(plan, report, same);
    EXPECT_EQ(judged.result, RunResult::recorded);
    EXPECT_FALSE(judged.other);
  }
  report.verdict = Verdict::pass("memcheck");
  EXPECT_EQ(judge_by_tool(plan, report, recorded).result, RunResult::pass);
}

TEST(JudgeRun, APassCarriesWhatWasComparedWhicheverOracleDecides) {
  Answer fault, reference;
  fault.verdict = Verdict::pass("fault");
  reference.verdict = Verdict::pass("reference");
  reference.verdict.reference = {1, 2};
  for (Answer* answer : {&fault, &reference}) {
    answer->trials.resize(1);
    answer->observations = {ended(End::completed)};
  }
  const RunJudgement run =
      judge_run(plain_plan({call_of(1, 16), call_of(2, 16)}), std::vector{fault, reference}, {});
  EXPECT_EQ(run.result, RunResult::pass);
  EXPECT_EQ(run.verdict.oracle, "fault");
  EXPECT_EQ(run.verdict.reference, (ReferenceCount{1, 2}));
}

// The device refuses the launch that the recorded failure is about: one bug.
TEST(JudgeRun, TheRefusalOfALaunchIsNoOtherFailureThanItsConfiguration) {
  for (const char* code : {"invalid-launch", "target-error"}) {
    Answer config, fault;
    config.verdict = {
        Outcome::fail, "launch-config", "", {FailKind::launch_config, "t", "k", "", "", ""}, 0};
    fault.verdict = {Outcome::fail, "fault", "", {FailKind::fault, "t", code, "", "", ""}, 0};
    fault.trials.resize(1);
    fault.observations = {ended(End::fault)};
    const RunJudgement run = judge_run(plain_plan({call_of(1, 16)}), std::vector{config, fault},
                                       config.verdict.signature);
    EXPECT_EQ(run.result, RunResult::recorded);
    EXPECT_EQ(run.other.has_value(), code == std::string("target-error"));
  }
}

// The plan has two calls, and the finding does not record which of them was wrong.
TEST_F(RecheckTest, AFindingOfTheReferenceIsJudgedOnlyWhereEachCallWasCompared) {
  const Signature wrong{FailKind::reference, "t", "", "y", "", ""};
  spec_.has_reference = true;
  oracle_ = "reference";
  const auto with = [](Comparison first, Comparison second) {
    return [=](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
      Observation o = all_right(plan, trial);
      if (trial.reference) o.calls.at(0).comparison = first, o.calls.at(1).comparison = second;
      return o;
    };
  };
  plan_ = plain_plan({call_of(128, 16), call_of(64, 16)});
  const auto all = ask(with(Comparison::compared, Comparison::compared), {10, 10}, wrong);
  EXPECT_EQ(all.outcome, ReplayOutcome::passes) << all.reason;
  const auto some = ask(with(Comparison::compared, Comparison::too_large), {10, 10}, wrong);
  EXPECT_EQ(some.outcome, ReplayOutcome::unclear);
  EXPECT_EQ(some.failed.n, 0) << "no run of it was judged";
  EXPECT_NE(some.reason.find("not judged by the reference: 1 of 2 calls were compared; call 2"),
            std::string::npos)
      << some.reason;
  const auto none = ask(with(Comparison::left_out, Comparison::left_out), {10, 10}, wrong);
  EXPECT_EQ(none.failed.n, 0);
  EXPECT_NE(none.outcome, ReplayOutcome::passes);
  // Verdicts of other oracles do not depend on the comparison.
  oracle_ = "redzone";
  const Signature canary{FailKind::redzone, "t", "", "y", "after", "write"};
  EXPECT_EQ(ask(with(Comparison::none, Comparison::none), {10, 10}, canary).outcome,
            ReplayOutcome::passes);
}

// Under this allocator no canaries surround a buffer, so a write past its end goes unnoticed.
TEST_F(RecheckTest, AWriteBesideABufferHasNotPassedWhereNothingSurroundsIt) {
  const auto right = [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return all_right(plan, trial);
  };
  oracle_ = "redzone";
  const Signature canary{FailKind::redzone, "t", "", "y", "after", "write"};
  EXPECT_EQ(ask(right, {10, 10}, canary).outcome, ReplayOutcome::passes);
  plan_.mode.allocator = Allocator::caching;
  const auto blind = ask(right, {10, 10}, canary);
  EXPECT_EQ(blind.outcome, ReplayOutcome::unclear);
  EXPECT_EQ(blind.failed.n, 0) << "no run of it was judged";
  EXPECT_NE(blind.reason.find("allocator 'caching' puts no canaries around 'y'"), std::string::npos)
      << blind.reason;
  // Gaps between rows, inputs and freed memory are checked under every allocator.
  for (const char* side : {"gap", "inside"}) {
    const Signature elsewhere{FailKind::redzone, "t", "", "y", side, "write"};
    EXPECT_EQ(ask(right, {10, 10}, elsewhere).outcome, ReplayOutcome::passes) << side;
  }
}

TEST_F(RecheckTest, WhatFailedSeldomTakesMorePassesThanWhatFailedAlways) {
  EXPECT_EQ(passes_needed({10, 10}), 4);
  EXPECT_GT(passes_needed({1, 1}), 20) << "one failure says little about its rate";
  EXPECT_LE(passes_needed({1, 1}), 100) << "but one night is enough for it";
  EXPECT_TRUE(rc::check("more failures never ask for more passes", [] {
    const auto n = *rc::gen::inRange<std::int64_t>(1, 200);
    const auto k = *rc::gen::inRange<std::int64_t>(1, n + 1);
    RC_ASSERT(passes_needed({k, n}) >= passes_needed({std::min(k + 1, n), n}));
  }));
}

TEST_F(RecheckTest, APlanOfWhichNothingIsKnownIsPutToAllOracles) {
  const auto r = ask(faults_above(64), {}, std::nullopt);
  EXPECT_EQ(r.outcome, ReplayOutcome::fails);
  EXPECT_EQ(r.failure->signature.kind, FailKind::illegal_access);
  EXPECT_EQ(ask(faults_above(4096), {}, std::nullopt).outcome, ReplayOutcome::passes);
}

TEST_F(RecheckTest, WhatCannotBeJudgedIsNeitherFixedNorFailing) {
  const auto gone = [](End end) {
    return [end](const Plan&, const TrialSpec&, const std::vector<Call>&) { return ended(end); };
  };
  const auto lost = ask(gone(End::worker_error), {10, 10});
  EXPECT_EQ(lost.outcome, ReplayOutcome::harness_error);
  EXPECT_EQ(lost.failed.n, 0);
  const auto refused = ask(gone(End::unsupported), {10, 10});
  EXPECT_EQ(refused.outcome, ReplayOutcome::not_applicable);
  EXPECT_EQ(ask(gone(End::out_of_memory), {10, 10}).failed.n, 0);
}

}  // namespace
}  // namespace redzone::campaign
