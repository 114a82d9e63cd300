// Runs plans and has oracles judge them. By default each trial runs in a worker that has run
// nothing before: a target's C++ statics outlive a trial and would hide differences between two
// trials.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/oracle.h"
#include "exec/executor.h"

namespace redzone::campaign {

struct Question {
  const Oracle* oracle = nullptr;
  Plan plan;
};

// A failure and the plan that shows it when run as written.
struct Alarm {
  Verdict verdict;
  Plan plan;
};

struct Answer {
  Verdict verdict;  // of the question's oracle
  std::vector<TrialSpec> trials;
  std::vector<Observation> observations;  // one for each trial
  // A failure that a single trial shows by itself, such as a fault, for which the question's oracle
  // has no verdict.
  std::optional<Alarm> alarm = {};
  // There were trials, and every worker had run nothing before.
  bool fresh = false;
};

class Evaluator {
 public:
  // Once `stop` returns true, ask() ends at once; trials that were not run are harness errors.
  Evaluator(exec::Runner& runner, const TargetSpec& spec, std::chrono::milliseconds deadline,
            std::function<bool()> stop = {})
      : runner_(runner), spec_(spec), deadline_(deadline), stop_(std::move(stop)) {}

  // Answers in the order of the questions; several run at a time. Oracles that need the same trial
  // of the same plan share it. A question that is given twice is run twice.
  std::vector<Answer> ask(std::span<const Question> questions);
  Answer ask(const Oracle& oracle, const Plan& plan);

  const TargetSpec& spec() const { return spec_; }
  // Trials run so far, for all questions.
  std::int64_t trials() const { return trials_; }
  // Time spent in ask() so far.
  std::chrono::steady_clock::duration asking() const { return asking_; }
  void set_deadline(std::chrono::milliseconds deadline) { deadline_ = deadline; }
  // After this time, ask() ends at once, as with `stop`.
  void set_until(std::chrono::steady_clock::time_point until) { until_ = until; }
  // True if the last ask() may have ended early.
  bool stopped() const { return (stop_ && stop_()) || std::chrono::steady_clock::now() >= until_; }
  // Allows used workers.
  void set_reuse(exec::Reuse reuse) { reuse_ = reuse; }
  // Runs the trials of one question in one worker. Saves workers if they start slowly, but may
  // hide a difference that a static causes.
  void set_grouped(bool grouped) { grouped_ = grouped; }
  // Runs all trials of one ask() in one worker, in the order of the questions.
  void set_in_one_worker(bool in_one) { in_one_worker_ = in_one; }
  bool in_one_worker() const { return in_one_worker_; }
  // Runs every trial with TrialSpec::wide_canaries.
  void set_wide_canaries(bool wide) { wide_canaries_ = wide; }
  // Set this for a device whose schedule seeds decide whether other work keeps it busy, on a stream
  // of its own (core/contention.h).
  void set_seeds_decide_contention(bool decide) { seeds_decide_contention_ = decide; }
  // Runs plans that use a single stream, without contention, in workers with one hardware
  // queue (exec::Job::one_queue). This may hide a race between streams that the target creates
  // itself.
  void set_one_queue(bool one_queue) { one_queue_ = one_queue; }
  bool one_queue() const { return one_queue_; }
  // The trials will probably cost their workers (exec::Job::will_lose), except with wide canaries.
  void set_will_lose(bool will_lose) { will_lose_ = will_lose; }
  // See exec::RunOptions::alone.
  void set_alone(bool alone) { alone_ = alone; }

 private:
  // Builds a job from the settings. `id`: its index in the batch.
  exec::Job job_of_trials(std::size_t id, const Plan& plan, std::vector<TrialSpec> trials) const;
  // Runs the jobs of one batch: an observation for each trial.
  std::vector<exec::JobResult> run(const std::vector<exec::Job>& jobs);
  // Runs the further trials that oracles request after the first ones (Oracle::follow_up()).
  void follow_up(std::span<const Question> questions, std::vector<Answer>& answers);

  exec::Runner& runner_;
  const TargetSpec& spec_;
  std::chrono::milliseconds deadline_;
  std::function<bool()> stop_;
  std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::time_point::max();
  exec::Reuse reuse_ = exec::Reuse::none;
  bool grouped_ = false;
  bool in_one_worker_ = false;
  bool wide_canaries_ = false;
  bool seeds_decide_contention_ = false;
  bool one_queue_ = false;
  bool will_lose_ = false;
  bool alone_ = false;
  std::int64_t trials_ = 0;
  std::chrono::steady_clock::duration asking_{0};
};

}  // namespace redzone::campaign
