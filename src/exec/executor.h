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

// A reference runs on the CPU and reports no progress during one call, so it gets this many
// deadlines.
inline constexpr int kReferenceDeadlines = 30;

// Which workers that have run other jobs of run_fresh() may run a job. Reuse is much faster if
// workers start slowly.
enum class Reuse : std::uint8_t {
  none,              // only a worker that has run nothing
  of_other_targets,  // only a worker that has not run the plan's target: the target's C++ statics
                     // are still those of a new process
  any,               // wrong for targets whose C++ statics outlive a trial
};

// Trials of one plan, to be run in order in one worker.
struct Job {
  std::uint64_t id = 0;
  Plan plan;
  std::vector<TrialSpec> trials;
  // A trial that makes no progress for this long is a hang (see device::BlackBox::progress).
  std::chrono::milliseconds deadline{10000};
  Reuse reuse = Reuse::none;  // in run_fresh()
  // In run_fresh(): the job will probably lose its worker. It only reuses workers whose last fresh
  // job also had this flag, or starts one, so that other jobs need not start a new worker because
  // of it.
  bool will_lose = false;
  // In run_fresh(): the job runs directly after the previous job of the batch, in the same worker
  // if that survives. The jobs that the worker may have run before are thus known: the jobs linked
  // in this way.
  bool behind = false;
  // Ends the job at the first trial that kills its worker: a second hang adds no information and
  // costs another deadline.
  bool end_at_loss = false;
  // In submit(): the job is returned without observations if an earlier job of the same target in
  // the queue of its worker lost that worker, because it would probably lose the next worker, too.
  bool back_at_loss = false;
  // In run_fresh(): a worker whose context has a single hardware queue suffices, and is preferred
  // if such workers start sooner. All streams share the queue, so streams never overlap: only for
  // plans that use one stream. A race between streams that a target creates itself may not show.
  bool one_queue = false;
  // In run_fresh(): if jobs take turns on the device (PoolOptions::most_in_turn), the job begins
  // without waiting for a turn. For measuring the effects of a busy device.
  bool side_by_side = false;
  // A shorter deadline while calls run, while they are waited for and checked, and while the target
  // is destroyed. It does not apply while memory is mapped, which can take long while other workers
  // start, or while a reference runs.
  std::chrono::milliseconds call_deadline = std::chrono::milliseconds::max();
};

// A job that a worker received, with the trials that the worker had to run.
struct LoggedJob {
  std::shared_ptr<const Plan> plan;
  std::vector<TrialSpec> trials;
};
// The jobs of one worker, oldest first. Shared and only ever appended to.
using WorkerLog = std::vector<LoggedJob>;

struct JobResult {
  std::uint64_t id = 0;
  // One for each trial of the job. Trials after one that killed the worker run in another worker,
  // or are missing if Job::end_at_loss is set. None if the job came back (Job::back_at_loss).
  std::vector<Observation> observations;
  // The jobs that the worker had run before this job: the first `log_size` jobs of `log`.
  std::shared_ptr<const WorkerLog> log;
  std::size_t log_size = 0;
  // Number of workers that its trials killed. It may be less than the number of faults: a launch
  // that the GPU driver refuses is a fault, but does not kill the worker.
  std::size_t lost_workers = 0;
};

struct ExecutorStats {
  std::uint64_t workers_started = 0;
  std::uint64_t workers_lost = 0;  // by a fault, crash, hang or invalid message
  std::uint64_t trials = 0;
  std::uint64_t fault_wait_us = 0;  // time without a worker after one was lost, summed
  std::uint64_t workers_up = 0;     // started workers that became ready for a job
  // Time that the latest native worker took from its start until it was ready.
  std::chrono::milliseconds latest_start{0};
};

struct RunOptions {
  // Called several times a second. Once it returns true, unfinished jobs end at once, with worker
  // errors for the missing trials. Empty: never.
  std::function<bool()> stop = {};
  // As far as the runner controls it, nothing else of this program uses the device meanwhile: for
  // measurements that may depend on the load of the machine.
  bool alone = false;
};

// Runs jobs for a caller that waits for the results.
class Runner {
 public:
  virtual ~Runner() = default;
  // Runs each job in a worker that has run nothing before (but see Job::reuse), several at a time.
  // Returns the results in the order of `jobs`.
  virtual std::vector<JobResult> run_fresh(std::span<const Job> jobs,
                                           const RunOptions& options) = 0;
  std::vector<JobResult> run_fresh(std::span<const Job> jobs) { return run_fresh(jobs, {}); }
  // Waits for something other than a trial until `done` returns true; calls it several times a
  // second.
  virtual void wait_until(const std::function<bool()>& done) = 0;
};

// Jobs of one submit_fresh().
using BatchId = std::uint64_t;

class Executor : public Runner {
 public:
  // For throughput: warm workers, several jobs in flight. Results come in any order.
  virtual void submit(Job job) = 0;
  // The next finished job; nullopt after `timeout`, or if no job is in flight.
  virtual std::optional<JobResult> next(std::chrono::milliseconds timeout) = 0;
  virtual std::size_t in_flight() const = 0;
  // How many jobs keep all warm workers busy.
  virtual std::size_t max_in_flight() const = 0;

  // For judging findings: like Runner::run_fresh(), but without waiting.
  virtual BatchId submit_fresh(std::span<const Job> jobs) = 0;
  virtual bool fresh_done(BatchId batch) const = 0;
  // The results of a batch that is done, in the order of its jobs. Call it once.
  virtual std::vector<JobResult> take_fresh(BatchId batch) = 0;
  // Ends the unfinished jobs of the batch at once, as worker errors with the reason `why`.
  virtual void cancel_fresh(BatchId batch, const std::string& why) = 0;

  // True if another fresh job would run as soon as a suitable worker is up. Of `job`, only the
  // requirements on its worker matter.
  virtual bool fresh_room(const Job& job) const = 0;

  // Lets trials run until a job is done, fresh_room() may have become true, or `timeout` has
  // passed.
  virtual void poll(std::chrono::milliseconds timeout) = 0;

  virtual ExecutorStats stats() const = 0;

  // Runs one batch, for a caller that has no other work meanwhile.
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
  // Interval at which a long wait calls its `stop`.
  static constexpr std::chrono::milliseconds kAskInterval{50};
};

}  // namespace redzone::exec
