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

// Which workers that have run other jobs of run_fresh() may run a job. Much faster where workers
// start slowly.
enum class Reuse : std::uint8_t {
  none,              // the worker has run nothing
  of_other_targets,  // nothing of the plan's target, whose C++ statics are those of a new process
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
  // In run_fresh(): probably costs its worker, so it does not take one that has run other jobs,
  // which need not start one because of it.
  bool will_lose = false;
  // In run_fresh(): runs right behind the job before it in the batch, in the same worker if that
  // survives. The jobs that such a worker may have run are then known: those that are linked so.
  bool behind = false;
  // Ends the job at the first trial that kills its worker: a second hang adds no information and
  // costs another deadline.
  bool end_at_loss = false;
  // In submit(): comes back without observations if a job of the same target before it in the
  // queue of a worker cost that worker: it would probably cost the next one.
  bool back_at_loss = false;
  // In run_fresh(): a worker whose context has a single hardware queue will do. All streams share
  // the queue, so no two of them overlap: only for plans that use one stream, and a race between
  // streams that a target makes itself may not show. Where such workers start sooner they are
  // preferred.
  bool one_queue = false;
  // In run_fresh(): begins although another job has its turn, where jobs take turns on the device.
  // For measuring what a busy device changes.
  bool side_by_side = false;
  // As `deadline`, while its calls are being made or waited for, if that is less: not while memory
  // is mapped, which can take long while other workers start, nor while a reference runs.
  std::chrono::milliseconds call_deadline = std::chrono::milliseconds::max();
};

// A job that a worker was given, with those of its trials that it was to run.
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
  // What the worker had run before this job: the first `log_size` jobs of `log`.
  std::shared_ptr<const WorkerLog> log;
  std::size_t log_size = 0;
  // Workers that its trials cost. Fewer than faults: one that the driver refuses to make costs
  // none.
  std::size_t lost_workers = 0;
};

struct ExecutorStats {
  std::uint64_t workers_started = 0;
  std::uint64_t workers_lost = 0;  // by a fault, crash, hang or invalid message
  std::uint64_t trials = 0;
  std::uint64_t fault_wait_us = 0;  // time without a worker after one was lost, summed
  std::uint64_t workers_up = 0;     // of those started, the ones that became ready for a job
  // What the latest native worker took from its start until it was ready.
  std::chrono::milliseconds latest_start{0};
};

struct RunOptions {
  // Called several times a second. Once it returns true, unfinished jobs end at once, with worker
  // errors for the missing trials. Empty: never.
  std::function<bool()> stop = {};
  // Nothing else of this program uses the device meanwhile, as far as the runner controls it: for
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
  // The next finished job, or nothing after `timeout` or when none is in flight.
  virtual std::optional<JobResult> next(std::chrono::milliseconds timeout) = 0;
  virtual std::size_t in_flight() const = 0;
  // How many jobs keep all warm workers busy.
  virtual std::size_t max_in_flight() const = 0;

  // For judgement, as Runner::run_fresh(), but without waiting.
  virtual BatchId submit_fresh(std::span<const Job> jobs) = 0;
  virtual bool fresh_done(BatchId batch) const = 0;
  // The results of a batch that is done, in the order of its jobs. Call it once.
  virtual std::vector<JobResult> take_fresh(BatchId batch) = 0;
  // Ends the unfinished jobs of the batch at once, as worker errors with the reason `why`.
  virtual void cancel_fresh(BatchId batch, const std::string& why) = 0;

  // True if one more fresh job would run as soon as a worker is up that serves it; of the job, only
  // what it asks of a worker matters.
  virtual bool fresh_room(const Job& job) const = 0;

  // Lets trials run until a job is done, fresh_room() may have become true, or `timeout` has
  // passed.
  virtual void poll(std::chrono::milliseconds timeout) = 0;

  virtual ExecutorStats stats() const = 0;

  // Runs one batch, for a caller with nothing else to do.
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
