// Runs trials in worker processes. The campaign sees only these interfaces.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/trial.h"

namespace redzone::exec {

// A reference runs on the CPU, without a sign of life for as long as it takes for one call: it has
// this many deadlines.
inline constexpr int kReferenceDeadlines = 30;

// Some trials of one plan, to be run in order in one worker.
struct Job {
  std::uint64_t id = 0;
  Plan plan;
  std::vector<TrialSpec> trials;
  // A trial that gives no sign of life for so long is a hang (see device::BlackBox::progress).
  std::chrono::milliseconds deadline{10000};
  // In run_fresh(): a worker that other jobs of run_fresh() have been in will do. Much faster where
  // a worker takes long to start; wrong for targets whose C++ statics outlive a trial.
  bool reuse = false;
  // The first trial that takes its worker down ends the job: a second hang says no more than the
  // first, and costs its deadline again.
  bool end_at_loss = false;
};

// The plans that one worker has run, oldest first. Shared and only ever appended to.
using WorkerLog = std::vector<std::shared_ptr<const Plan>>;

struct JobResult {
  std::uint64_t id = 0;
  // One for each trial asked for. Trials behind one that killed the worker are run in another, or
  // are missing where Job::end_at_loss is set.
  std::vector<Observation> observations;
  // What the worker had run before this job: the first `log_size` plans of `log`.
  std::shared_ptr<const WorkerLog> log;
  std::size_t log_size = 0;
};

struct ExecutorStats {
  std::uint64_t workers_started = 0;
  std::uint64_t workers_lost = 0;  // by fault, crash, hang or rubbish
  std::uint64_t trials = 0;
  std::uint64_t fault_wait_us = 0;  // time without a worker after one was lost, summed
};

struct RunOptions {
  // Asked several times a second; once it is true the jobs that are not done end at once, with
  // worker errors for what is missing. Empty: never.
  std::function<bool()> stop = {};
  // Nothing else of this program uses the device meanwhile, as far as that is in its hands: for
  // what may depend on how busy the machine is.
  bool alone = false;
};

// Runs jobs for somebody who waits for the results.
class Runner {
 public:
  virtual ~Runner() = default;
  // Each job in a worker that has run nothing before (but see Job::reuse); several at a time.
  // Results in the order of `jobs`.
  virtual std::vector<JobResult> run_fresh(std::span<const Job> jobs,
                                           const RunOptions& options) = 0;
  std::vector<JobResult> run_fresh(std::span<const Job> jobs) { return run_fresh(jobs, {}); }
  // Waits, for something that is no trial, until `done` says so. It is asked several times a
  // second.
  virtual void wait_until(const std::function<bool()>& done) = 0;
};

// Jobs of one submit_fresh().
using BatchId = std::uint64_t;

class Executor : public Runner {
 public:
  // For throughput: warm workers, several jobs in flight. Results come in any order.
  virtual void submit(Job job) = 0;
  // The next finished job, or nothing after `timeout` or when none is in flight.
  virtual std::optional<JobResult> next(std::chrono::milliseconds timeout) = 0;
  virtual std::size_t in_flight() const = 0;
  // How many jobs keep all warm workers busy.
  virtual std::size_t max_in_flight() const = 0;

  // For judgement, without waiting: as Runner::run_fresh().
  virtual BatchId submit_fresh(std::span<const Job> jobs) = 0;
  virtual bool fresh_done(BatchId batch) const = 0;
  // Of a batch that is done, in the order of its jobs; once.
  virtual std::vector<JobResult> take_fresh(BatchId batch) = 0;
  // The jobs of the batch that are not done end at once, with worker errors that say `why`.
  virtual void cancel_fresh(BatchId batch, const std::string& why) = 0;

  // Whether one more fresh job would have a worker as soon as one is up; `reuse`: as of Job.
  virtual bool fresh_room(bool reuse) const = 0;

  // Lets trials run until a job is done; at most for `timeout`.
  virtual void poll(std::chrono::milliseconds timeout) = 0;

  virtual ExecutorStats stats() const = 0;

  // One batch, for a caller that has nothing else to do.
  using Runner::run_fresh;
  std::vector<JobResult> run_fresh(std::span<const Job> jobs, const RunOptions& options) final {
    const BatchId batch = submit_fresh(jobs);
    while (!fresh_done(batch))
      if (options.stop && options.stop())
        cancel_fresh(batch, "stopped");
      else
        poll(kAskInterval);
    return take_fresh(batch);
  }
  void wait_until(const std::function<bool()>& done) final {
    while (!done()) poll(kAskInterval);
  }

 protected:
  // How often a long wait asks whether it is to end.
  static constexpr std::chrono::milliseconds kAskInterval{50};
};

}  // namespace redzone::exec
