// Invariants of the result of a run.
#include "core/run_result.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace redzone {
namespace {

Signature signature(FailKind kind, std::string buffer = "y") {
  return {kind, "t", "", std::move(buffer), "after", "write"};
}

OracleAnswer failed(Signature s) {
  return {{Outcome::fail, "o", "", std::move(s), 0}, TrialsRun::some};
}
OracleAnswer said(Outcome outcome, TrialsRun trials = TrialsRun::some, std::string reason = "") {
  return {{outcome, "o", std::move(reason), {}, -1}, trials};
}

const Signature kRecorded = signature(FailKind::redzone);

RankedRun rank(std::vector<OracleAnswer> answers, bool recorded = true) {
  return rank_run(answers, recorded ? std::optional(kRecorded) : std::nullopt);
}

// Over several runs of a plan, any failure decides; next an error of the harness, which passes do
// not outweigh.
TEST(RankRuns, SaysTheWorstThatAnyRunShowed) {
  using enum RunResult;
  const auto ranked = [](std::vector<RunResult> runs) { return rank_runs(runs); };
  EXPECT_EQ(ranked({pass, pass, recorded, harness_error}), recorded);
  EXPECT_EQ(ranked({pass, other, harness_error}), other);
  EXPECT_EQ(ranked({pass, recorded, other}), recorded);
  EXPECT_EQ(ranked({pass, pass, pass, harness_error}), harness_error);
  EXPECT_EQ(ranked({not_judged, harness_error}), harness_error);
  EXPECT_EQ(ranked({pass, not_judged}), not_judged);
  EXPECT_EQ(ranked({not_judged}), not_judged);
  EXPECT_EQ(ranked({}), not_judged);
}

TEST(RankRuns, SayHowACommandEnds) {
  using enum RunResult;
  for (const auto& [result, code] :
       {std::pair{recorded, kFound}, std::pair{other, kFound}, std::pair{harness_error, kHarness},
        std::pair{not_judged, kNotJudged}, std::pair{pass, kOk}})
    EXPECT_EQ(exit_code_of(result), code) << name_of(result);
}

TEST(RankRun, ThePlanThatNowFaultsIsAnAlarmWhateverItsOwnOracleCannotSay) {
  const auto r =
      rank({said(Outcome::inconclusive), failed(signature(FailKind::illegal_access, "z"))});
  EXPECT_EQ(r.result, RunResult::other);
  EXPECT_EQ(r.other, 1u);
}

TEST(RankRun, AFailureWithAnotherSignatureIsNoPass) {
  const auto r = rank({failed(signature(FailKind::redzone, "z"))});
  EXPECT_EQ(r.result, RunResult::other);
}

TEST(RankRun, TheRecordedFailureDecidesAndTheOtherIsToldToo) {
  const auto r = rank({failed(kRecorded), failed(signature(FailKind::illegal_access, "z"))});
  EXPECT_EQ(r.result, RunResult::recorded);
  EXPECT_EQ(r.decisive, 0u);
  EXPECT_EQ(r.other, 1u);
}

TEST(RankRun, NothingPassesWithoutATrialThatRan) {
  const auto no_trial = said(Outcome::pass, TrialsRun::none_wanted);
  const auto too_large = said(Outcome::not_applicable, TrialsRun::none, "out of memory");
  EXPECT_EQ(rank({no_trial}, false).result, RunResult::not_judged);
  const auto r =
      rank({no_trial, said(Outcome::not_applicable, TrialsRun::none_wanted), too_large}, false);
  EXPECT_EQ(r.result, RunResult::not_judged);
  EXPECT_EQ(r.decisive, 2u) << "the trial that could not run says why";
  EXPECT_EQ(rank({no_trial, said(Outcome::harness_error, TrialsRun::none)}, false).result,
            RunResult::harness_error);
  EXPECT_EQ(rank({no_trial, said(Outcome::pass)}, false).result, RunResult::pass);
}

TEST(RankRun, WhatTheFindingsOwnOracleDidNotJudgeIsNotJudged) {
  for (const auto own : {Outcome::inconclusive, Outcome::not_applicable})
    EXPECT_EQ(rank({said(own), said(Outcome::pass)}).result, RunResult::not_judged);
}

TEST(RankRun, AnOracleThatDoesNotApplyKeepsNothingFromPassing) {
  EXPECT_EQ(rank({said(Outcome::pass), said(Outcome::not_applicable)}, false).result,
            RunResult::pass);
}

rc::Gen<OracleAnswer> any_answer() {
  const auto kinds = rc::gen::element(FailKind::illegal_access, FailKind::redzone, FailKind::async);
  return rc::gen::mapcat(
      rc::gen::element(Outcome::pass, Outcome::fail, Outcome::inconclusive, Outcome::not_applicable,
                       Outcome::harness_error),
      [kinds](Outcome outcome) {
        return rc::gen::apply(
            [outcome](FailKind kind, TrialsRun trials) {
              if (outcome == Outcome::fail) return failed(signature(kind));
              return said(outcome, trials);
            },
            kinds, rc::gen::element(TrialsRun::none_wanted, TrialsRun::none, TrialsRun::some));
      });
}

TEST(RankRun, NeverSaysBetterThanWhatWasRun) {
  EXPECT_TRUE(rc::check("the ranking holds for any answers", [] {
    const auto answers =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<OracleAnswer>>(any_answer()));
    const bool recorded = *rc::gen::arbitrary<bool>();
    const auto r = rank(answers, recorded);
    const auto count = [&](auto matches) {
      return std::count_if(answers.begin(), answers.end(), matches);
    };
    const auto failures = count([](const auto& a) { return a.verdict.failed(); });
    const auto errors =
        count([](const auto& a) { return a.verdict.outcome == Outcome::harness_error; });
    const auto ran = count([](const auto& a) { return a.trials == TrialsRun::some; });
    RC_ASSERT((failures > 0) == (r.result == RunResult::recorded || r.result == RunResult::other));
    if (failures == 0) RC_ASSERT((errors > 0) == (r.result == RunResult::harness_error));
    if (r.result == RunResult::pass) {
      RC_ASSERT(ran > 0 && failures == 0 && errors == 0);
      RC_ASSERT(count([](const auto& a) { return a.verdict.outcome == Outcome::inconclusive; }) ==
                0);
      if (recorded) RC_ASSERT(answers.front().verdict.outcome == Outcome::pass);
    }
    RC_ASSERT(r.decisive < answers.size());
  }));
}

TEST(RankRun, MoreAnswersNeverMakeItBetterUnlessAFailureOrATrialCame) {
  EXPECT_TRUE(rc::check("an answer more never turns a failure into a pass", [] {
    auto answers = *rc::gen::nonEmpty(rc::gen::container<std::vector<OracleAnswer>>(any_answer()));
    const auto before = rank(answers);
    answers.push_back(*any_answer());
    const auto after = rank(answers);
    if (before.result == RunResult::recorded) RC_ASSERT(after.result == RunResult::recorded);
    if (before.result != RunResult::pass && before.result != RunResult::not_judged)
      RC_ASSERT(after.result <= before.result);
  }));
}

TEST(RankPlans, TheMajorityDecidesBetweenWhatWasJudgedAndWhatTheHarnessCouldNotRun) {
  EXPECT_EQ(rank_plans({.judged = 0, .harness_errors = 0}), RunResult::not_judged);
  EXPECT_EQ(rank_plans({.judged = 1, .harness_errors = 0}), RunResult::pass);
  EXPECT_EQ(rank_plans({.judged = 1000, .harness_errors = 3}), RunResult::pass);
  EXPECT_EQ(rank_plans({.judged = 3, .harness_errors = 3}), RunResult::harness_error);
  EXPECT_EQ(rank_plans({.judged = 0, .harness_errors = 1}), RunResult::harness_error);
}

TEST(RankTargets, TheOneThatCameToLeastDecides) {
  const auto ranked = [](std::vector<PlanCounts> targets) { return rank_targets(targets); };
  const PlanCounts sound{.judged = 1000}, dead{.harness_errors = 1}, unclear{.inconclusive = 9};
  EXPECT_EQ(ranked({sound, {}}), RunResult::pass) << "one does not apply here";
  EXPECT_EQ(ranked({sound, unclear}), RunResult::not_judged);
  EXPECT_EQ(ranked({sound, unclear, dead}), RunResult::harness_error);
  EXPECT_EQ(ranked({{}, {}}), RunResult::not_judged);
  EXPECT_EQ(ranked({}), RunResult::not_judged);
}

TEST(ExitCode, IsOneForEachResult) {
  EXPECT_EQ(exit_code_of(RunResult::recorded), kFound);
  EXPECT_EQ(exit_code_of(RunResult::other), kFound);
  EXPECT_EQ(exit_code_of(RunResult::harness_error), kHarness);
  EXPECT_EQ(exit_code_of(RunResult::not_judged), kNotJudged);
  EXPECT_EQ(exit_code_of(RunResult::pass), kOk);
}

}  // namespace
}  // namespace redzone
