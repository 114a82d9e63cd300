#include "guard/program_verdict.h"

#include <gtest/gtest.h>

#include "guard/sample.h"
#include "guard/stored_finding.h"

namespace redzone::guard {
namespace {

using namespace testing;

Signature of(const Finding& finding) {
  const ProgramRun run = run_with({finding});
  return stored_signature(run, run.findings().at(0));
}

RunResult result(const ProgramRun& run, const std::set<std::string>& waived = {}) {
  return judge_run(run, of(sample_finding()), waived).result;
}

TEST(ProgramVerdictOfARun, RanksTheRecordedFailureFirst) {
  EXPECT_EQ(result(run_with({sample_before(), sample_finding()})), RunResult::recorded);
  EXPECT_EQ(result(run_with({sample_before()})), RunResult::other);
  EXPECT_EQ(result(run_with({})), RunResult::pass);
  const auto verdict = judge_run(run_with({sample_before()}), of(sample_finding()), {}).verdict;
  EXPECT_EQ(verdict.signature, of(sample_before()));
  EXPECT_EQ(verdict.reason, signature(sample_before()));
}

TEST(ProgramVerdictOfARun, AWaivedFindingIsNoAlarm) {
  EXPECT_EQ(result(run_with({sample_before()}), {of(sample_before()).hash()}), RunResult::pass);
  EXPECT_EQ(result(run_with({sample_finding()}), {of(sample_finding()).hash()}),
            RunResult::recorded)
      << "it was asked for";
}

TEST(ProgramVerdictOfARun, APassNeedsThatAllWasJudgedAndEndedByItself) {
  EXPECT_EQ(result(run_with({}, 7)), RunResult::pass) << "whatever its exit code";
  const auto changed = [](auto change) {
    ProgramRun run = run_with({});
    change(run);
    return result(run);
  };
  EXPECT_EQ(changed([](auto& run) { run.ended.over_time = true; }), RunResult::not_judged);
  EXPECT_EQ(changed([](auto& run) { run.ended.passed_on = 2; }), RunResult::not_judged);
  EXPECT_EQ(changed([](auto& run) { run.ended.signal = 11; }), RunResult::not_judged);
  EXPECT_EQ(changed([](auto& run) { run.processes.clear(); }), RunResult::not_judged);
  EXPECT_EQ(changed([](auto& run) { run.processes.emplace_back(); }), RunResult::not_judged);
}

TEST(ProgramVerdictOfARun, FailuresOfARunThatWasCutOffCount) {
  ProgramRun run = run_with({sample_finding()});
  run.ended.over_time = true;
  run.ended.signal = 9;
  EXPECT_EQ(result(run), RunResult::recorded);
}

TEST(RunWithoutAFinding, KeepsTheOthers) {
  const ProgramRun run =
      without(run_with({sample_finding(), sample_before()}), of(sample_finding()));
  ASSERT_EQ(run.findings().size(), 1u);
  EXPECT_EQ(signature(run.findings()[0].first), signature(sample_before()));
}

}  // namespace
}  // namespace redzone::guard
