// Workers under a fake tool, beside a native executor that runs nothing.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/plan_text.h"
#include "core/temporary_folder.h"
#include "exec/pool.h"
#include "exec/tiered.h"
#include "oracles/sanitizer.h"
#include "sanitizer/command.h"
#include "sanitizer/new_log.h"

namespace redzone::exec {

using std::chrono::milliseconds;

// Native trials; the tests check only that they ran here.
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
  std::size_t max_in_flight() const override { return 2; }
  BatchId submit_fresh(std::span<const Job> jobs) override {
    for (const auto& job : jobs) batches_[last_batch_ + 1].push_back(run(job));
    return ++last_batch_;
  }
  bool fresh_done(BatchId) const override { return true; }
  std::vector<JobResult> take_fresh(BatchId batch) override {
    return std::move(batches_.extract(batch).mapped());
  }
  void cancel_fresh(BatchId, const std::string&) override {}
  bool fresh_room(const Job&) const override { return true; }
  void poll(milliseconds) override {}
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
  std::map<BatchId, std::vector<JobResult>> batches_;
  BatchId last_batch_ = 0;
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
  Outcome outcome(const std::string& target) { return judge(target, run(target)).outcome; }

  std::string absent_;
  int opened_ = 0;
  TemporaryFolder folder_ = TemporaryFolder::create("sanitizer").value();
  Native native_;
  TieredExecutor executor_{native_, {[this](SanitizerTool tool) { return open(tool); }, 20, {}}};
};

}  // namespace redzone::exec
