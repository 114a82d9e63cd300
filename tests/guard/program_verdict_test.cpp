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
  return judge_run(run, of(sample_finding()), 3, waived).result;
}

TEST(ProgramVerdictOfARun, RanksTheRecordedFailureFirst) {
  EXPECT_EQ(result(run_with({sample_before(), sample_finding()})), RunResult::recorded);
  EXPECT_EQ(result(run_with({sample_before()})), RunResult::other);
  EXPECT_EQ(result(run_with({})), RunResult::pass);
  const auto verdict = judge_run(run_with({sample_before()}), of(sample_finding()), 0, {}).verdict;
  EXPECT_EQ(verdict.signature, of(sample_before()));
  EXPECT_EQ(verdict.reason, signature(sample_before()));
}

TEST(ProgramVerdictOfARun, AWaivedFindingIsNoAlarmAndNoPass) {
  EXPECT_EQ(result(run_with({sample_before()}), {of(sample_before()).hash()}),
            RunResult::not_judged);
  EXPECT_EQ(result(run_with({sample_finding()}), {of(sample_finding()).hash()}),
            RunResult::recorded)
      << "it was asked for";
}

TEST(ProgramVerdictOfARun, APassNeedsThatAllWasJudgedAndEndedByItself) {
  EXPECT_EQ(result(run_with({}, 0)), RunResult::pass);
  EXPECT_EQ(result(run_with({}, 3)), RunResult::pass) << "as recorded";
  EXPECT_EQ(result(run_with({}, 7)), RunResult::not_judged);
  EXPECT_EQ(judge_run(run_with({}, 7), of(sample_finding()), 3, {}).verdict.reason,
            "the program ended with 7, not 3");
  const auto changed = [](auto change) {
    ProgramRun run = run_with({});
    change(run);
    return result(run);
  };
  EXPECT_EQ(changed([](auto& run) { run.ended.over_time = true; }), RunResult::not_judged);
  EXPECT_EQ(changed([](auto& run) { run.ended.passed_on = 2; }), RunResult::not_judged);
  EXPECT_EQ(changed([](auto& run) { run.ended.signal = 11; }), RunResult::not_judged);
  EXPECT_EQ(changed([](auto& run) { run.processes.clear(); }), RunResult::not_judged);
  EXPECT_EQ(changed([](auto& run) {
              run.settings.hooks = interpose::kTorchHook | interpose::kCupyHook;
              run.processes[0].facts[static_cast<std::size_t>(Fact::torch_present)] = true;
            }),
            RunResult::not_judged)
      << "PyTorch's segments were judged, and not its tensors";
  EXPECT_EQ(changed([](auto& run) { run.processes.emplace_back(); }), RunResult::not_judged);
  EXPECT_EQ(changed([](auto& run) { run.processes[0].program = "/bin/true"; }),
            RunResult::not_judged)
      << "not the program of the finding";
  const auto with_child = [&](bool ended, std::uint32_t pid) {
    return changed([&](auto& run) {
      ProcessRecord child = run.processes[0];
      child.facts[static_cast<std::size_t>(Fact::ended)] = ended;
      child.pid = pid;
      run.processes.push_back(child);
    });
  };
  EXPECT_EQ(with_child(true, 6), RunResult::pass);
  EXPECT_EQ(with_child(false, 6), RunResult::not_judged) << "a signal has ended it";
  EXPECT_EQ(with_child(false, 5), RunResult::pass) << "one that became the other by exec";
  EXPECT_EQ(changed([](auto& run) {
              run.settings.only = {99, 99};
            }),
            RunResult::not_judged)
      << "no block was guarded";
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
