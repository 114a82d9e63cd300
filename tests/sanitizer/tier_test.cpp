// The tier from end to end without a GPU: a pool of workers under a fake tool.
#include "sanitizer/tier_fixture.h"

#include "trial/sanitizer_watch.h"

namespace redzone::exec {
namespace {

TEST_F(Tier, ARecordArrivesWithItsBufferAndSide) {
  const auto seen = run("one-write");
  ASSERT_TRUE(seen.sanitizer);
  ASSERT_EQ(seen.sanitizer->records.size(), 1u);
  const auto& record = seen.sanitizer->records[0];
  EXPECT_EQ(record.buffer, "y");
  EXPECT_EQ(record.side, Side::after);
  EXPECT_EQ(record.distance_bytes, 1);
  EXPECT_EQ(record.call, 0);
  const auto verdict = judge("one-write", seen);
  EXPECT_EQ(verdict.signature.text(), "illegal-access: write after y in scan (one-write)");
  EXPECT_EQ(verdict.reason,
            "invalid write of 4 bytes in scan at p.cu:8 by thread (64,0,0) of block (0,0,0), 1 "
            "byte after 'y' of call 1");
}

TEST_F(Tier, OneWorkerServesManyTrialsAndSaysNothingOfThoseBefore) {
  const auto first = run("one-write");
  const auto second = run("clean");
  EXPECT_EQ(first.message, second.message) << "another process";
  EXPECT_TRUE(second.sanitizer->records.empty());
  EXPECT_EQ(judge("clean", second).outcome, Outcome::pass);
  EXPECT_EQ(opened_, 1);
}

TEST_F(Tier, RecordsAlikeAreOne) {
  const auto seen = run("warp");
  ASSERT_EQ(seen.sanitizer->records.size(), 1u);
  EXPECT_EQ(seen.sanitizer->records[0].count, 32u);
  EXPECT_EQ(seen.sanitizer->records[0].thread, "0,0,0") << "the first";
}

TEST_F(Tier, AFloodIsBoundedCountedAndCostsTheWorker) {
  const auto seen = run("flood");
  EXPECT_EQ(seen.sanitizer->records.size(), trial::SanitizerWatch::kMostRecords);
  EXPECT_EQ(seen.sanitizer->dropped, 2000 - trial::SanitizerWatch::kMostRecords);
  EXPECT_EQ(judge("flood", seen).outcome, Outcome::fail);
  const auto next = run("clean");
  EXPECT_NE(next.message, seen.message) << "the tool prints so much and then nothing";
  EXPECT_EQ(judge("clean", next).outcome, Outcome::pass);
}

TEST_F(Tier, ARecordThatIsCutOffStillCounts) {
  EXPECT_EQ(outcome("half-a-record"), Outcome::fail);
}

TEST_F(Tier, WhatIsNoLogIsNeverAPass) {
  for (const char* what : {"cut", "breaks", "own-kernel"}) {
    EXPECT_EQ(outcome(what), Outcome::harness_error) << what;
    EXPECT_EQ(outcome("clean"), Outcome::pass) << "behind " << what;
  }
  const auto seen = run("rubbish");
  EXPECT_TRUE(seen.sanitizer) << "and it does not take the worker down";
}

TEST_F(Tier, AToolThatDiesIsReplaced) {
  EXPECT_EQ(outcome("dies"), Outcome::inconclusive);
  EXPECT_EQ(outcome("clean"), Outcome::pass);
}

TEST_F(Tier, AToolThatHangsIsReplaced) {
  const auto seen = run("hangs");
  EXPECT_EQ(seen.end, End::hang);
  EXPECT_EQ(judge("hangs", seen).outcome, Outcome::inconclusive);
  EXPECT_EQ(outcome("clean"), Outcome::pass);
}

TEST_F(Tier, AToolThatDoesNotStartIsSaidInItsOwnWords) {
  ::setenv("FAKE_SANITIZER", "dies", 1);
  const auto seen = run("clean");
  EXPECT_EQ(seen.end, End::worker_error);
  EXPECT_NE(seen.message.find("Device not supported"), std::string::npos) << seen.message;
  EXPECT_EQ(judge("clean", seen).outcome, Outcome::harness_error);
}

TEST_F(Tier, AToolThatWritesNoLogHasCheckedNothing) {
  ::setenv("FAKE_SANITIZER", "silent", 1);
  EXPECT_EQ(outcome("clean"), Outcome::harness_error);
}

TEST_F(Tier, AnAbsentToolIsAnErrorOfEachTrialThatAskedForIt) {
  absent_ = "compute-sanitizer was not found";
  const auto job = job_of("clean", {SanitizerTool::none, SanitizerTool::memcheck});
  const auto result = executor_.run_fresh(std::span(&job, 1)).at(0);
  EXPECT_EQ(result.observations[0].end, End::completed);
  EXPECT_EQ(result.observations[1].end, End::worker_error);
  EXPECT_EQ(result.observations[1].message, absent_);
}

TEST_F(Tier, NativeTrialsStartNoTool) {
  const auto job = job_of("clean", {SanitizerTool::none, SanitizerTool::none});
  executor_.submit(job);
  const auto result = executor_.next(milliseconds(1000));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->id, 42u);
  EXPECT_EQ(result->log_size, 7u);
  EXPECT_EQ(opened_, 0);
  EXPECT_EQ(executor_.stats().trials, 2u);
}

// As in a campaign: jobs of both kinds are in flight while triage submits more.
TEST_F(Tier, PartsOfAJobComeTogetherInTheirOrder) {
  const std::vector<SanitizerTool> mix{SanitizerTool::none, SanitizerTool::memcheck,
                                       SanitizerTool::none, SanitizerTool::racecheck};
  executor_.submit(job_of("one-write", mix));
  const auto asked = run("clean");
  EXPECT_TRUE(asked.sanitizer->records.empty());
  EXPECT_EQ(executor_.in_flight(), 1u);
  std::optional<JobResult> result;
  for (int i = 0; i < 100 && !result; ++i) result = executor_.next(milliseconds(200));
  ASSERT_TRUE(result);
  EXPECT_EQ(executor_.in_flight(), 0u);
  const auto& seen = result->observations;
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[0].message, "native");
  EXPECT_EQ(seen[2].message, "native");
  EXPECT_EQ(seen[1].sanitizer->tool, SanitizerTool::memcheck);
  EXPECT_EQ(seen[3].sanitizer->tool, SanitizerTool::racecheck);
  EXPECT_NE(seen[1].message, seen[3].message) << "a process has one tool";
}

}  // namespace
}  // namespace redzone::exec
