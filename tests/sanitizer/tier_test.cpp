// The tier end to end, without a GPU: a pool of workers under a tool that is none.
#include <gtest/gtest.h>

#include <cstdlib>

#include "campaign/tool_proof.h"
#include "core/plan_text.h"
#include "exec/pool.h"
#include "exec/tiered.h"
#include "exec/trial/sanitizer_watch.h"
#include "oracles/catalog.h"
#include "oracles/sanitizer.h"
#include "sanitizer/command.h"
#include "sanitizer/log_folder.h"

namespace redzone::exec {
namespace {

using std::chrono::milliseconds;

// Native trials, of which the tests want to know only that they ran here.
class Native final : public Executor {
 public:
  void submit(Job job) override { done_.push_back(run(job)); }
  std::optional<JobResult> next(milliseconds) override {
    if (done_.empty()) return std::nullopt;
    auto result = std::move(done_.front());
    done_.pop_front();
    return result;
  }
  std::size_t in_flight() const override { return done_.size(); }
  std::size_t appetite() const override { return 2; }
  std::vector<JobResult> run_fresh(std::span<const Job> jobs) override {
    std::vector<JobResult> out;
    for (const auto& job : jobs) out.push_back(run(job));
    return out;
  }
  void set_heartbeat(std::function<void()>) override {}
  ExecutorStats stats() const override { return {1, 0, trials_, 0}; }

 private:
  JobResult run(const Job& job) {
    JobResult result{job.id, {}, std::make_shared<const WorkerLog>(), 7};
    for (const auto& trial : job.trials) {
      ++trials_;
      Observation o;
      o.end = trial.mode.sanitizer == SanitizerTool::none ? End::completed : End::worker_error;
      o.message = "native";
      result.observations.push_back(o);
    }
    return result;
  }
  std::deque<JobResult> done_;
  std::uint64_t trials_ = 0;
};

class Tier : public testing::Test {
 protected:
  ~Tier() override { ::unsetenv("FAKE_SANITIZER"); }

  Result<std::unique_ptr<Executor>> open(SanitizerTool tool) {
    if (!absent_.empty()) return harness_error(absent_);
    ++opened_;
    const auto log = sanitizer::new_log(folder_.path()).value();
    PoolOptions options;
    options.command.argv = sanitizer::command_prefix(FAKE_SANITIZER, tool, log);
    options.command.argv.insert(
        options.command.argv.end(),
        {FAKE_WORKER, "--sanitizer", std::string(name_of(tool)), "--sanitizer-log", log.string()});
    options.workers = 1;
    options.spares = 0;
    options.most_failed_starts = 2;
    return std::make_unique<Pool>(std::move(options));
  }

  static Job job_of(std::string target, std::vector<SanitizerTool> tools) {
    Job job;
    job.id = 42;
    job.plan.target = std::move(target);
    job.plan.steps = {CallStep{}, CallStep{}};
    for (auto tool : tools) {
      TrialSpec trial;
      trial.mode.sanitizer = tool;
      job.trials.push_back(trial);
    }
    job.deadline = milliseconds(100);
    return job;
  }
  // One trial under memcheck.
  Observation run(const std::string& target) {
    const Job job = job_of(target, {SanitizerTool::memcheck});
    return executor_.run_fresh(std::span(&job, 1)).at(0).observations.at(0);
  }
  static Verdict judge(const std::string& target, const Observation& seen) {
    const oracles::SanitizerOracle oracle(SanitizerTool::memcheck);
    return oracle.judge(job_of(target, {}).plan, {}, std::span(&seen, 1));
  }
  // What the proof of that tool says; "" where it holds.
  std::string proof(SanitizerTool tool) {
    const auto proved = campaign::prove_tool(
        executor_, catalog_, [this](std::string_view) { return &spec_; }, tool);
    if (proved) return "";
    EXPECT_EQ(proved.error().kind, ErrorKind::harness);
    EXPECT_EQ(proved.error().message.find('\n'), std::string::npos);
    return proved.error().message;
  }
  Outcome outcome(const std::string& target) { return judge(target, run(target)).outcome; }

  TargetSpec spec_;
  oracles::Catalog catalog_;
  std::string absent_;
  int opened_ = 0;
  sanitizer::LogFolder folder_ = sanitizer::LogFolder::create().value();
  Native native_;
  TieredExecutor executor_{native_, {[this](SanitizerTool tool) { return open(tool); }, 20, {}}};
};

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
            "bytes after 'y' of call 1");
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
  EXPECT_EQ(seen.sanitizer->records.size(), SanitizerWatch::kMostRecords);
  EXPECT_EQ(seen.sanitizer->dropped, 2000 - SanitizerWatch::kMostRecords);
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

constexpr SanitizerTool kTools[] = {SanitizerTool::memcheck, SanitizerTool::racecheck,
                                    SanitizerTool::initcheck, SanitizerTool::synccheck};

TEST_F(Tier, AToolThatCatchesThePlantedBugOfItsKindIsProven) {
  for (const auto tool : kTools) EXPECT_EQ(proof(tool), "") << name_of(tool);
  EXPECT_EQ(opened_, 4) << "one worker each";
}

TEST_F(Tier, AToolThatSeesNothingIsNotProven) {
  ::setenv("FAKE_SANITIZER", "blind", 1);
  for (const auto tool : kTools)
    EXPECT_EQ(proof(tool), std::string(name_of(tool)) + " does not catch " +
                               std::string(campaign::planted_for(tool)) + ": pass");
}

TEST_F(Tier, AToolThatTakesOneBugForAnotherIsNotProven) {
  ::setenv("FAKE_SANITIZER", "mistaken", 1);
  EXPECT_TRUE(proof(SanitizerTool::racecheck)
                  .starts_with("racecheck does not catch a planted race: illegal-access"))
      << proof(SanitizerTool::racecheck);
}

TEST_F(Tier, AToolThatComplainsOfEverythingIsNotProven) {
  ::setenv("FAKE_SANITIZER", "everything", 1);
  EXPECT_TRUE(proof(SanitizerTool::memcheck)
                  .starts_with("memcheck does not pass the clean target: illegal-access"))
      << proof(SanitizerTool::memcheck);
}

TEST_F(Tier, AToolThatRefusesTheDeviceIsNotProvenAndSaysWhy) {
  ::setenv("FAKE_SANITIZER", "dies", 1);
  const auto message = proof(SanitizerTool::memcheck);
  EXPECT_TRUE(message.starts_with("memcheck cannot be used here: ")) << message;
  EXPECT_NE(message.find("Device not supported"), std::string::npos) << message;
}

TEST_F(Tier, AnAbsentToolIsNotProvenAndSaysWhy) {
  absent_ = "compute-sanitizer was not found";
  EXPECT_EQ(proof(SanitizerTool::memcheck),
            "memcheck cannot be used here: compute-sanitizer was not found");
}

// What a campaign does: jobs of both kinds in flight while the triage asks for more.
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
