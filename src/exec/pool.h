// The executor over worker processes: warm workers for throughput, spares for fresh jobs and to
// replace dead workers.
//
// Single-threaded and poll-driven: all work happens inside the calls of this class. No call waits
// for a process to start or end, except stop(), and calls that wait for the answer of a zygote, for
// at most one second. Misbehaviour of a worker becomes an observation; it cannot block, crash or
// exhaust the driver.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exec/executor.h"
#include "exec/trial_host.h"
#include "exec/worker.h"
#include "exec/zygote.h"

namespace redzone::exec {

struct PoolOptions {
  WorkerCommand command;
  // Whether the program of `command` supports --zygote (exec/zygote.h). If so, workers are forked
  // from a process that has loaded the targets.
  bool has_zygote = false;
  // Command of workers with one hardware queue, for Job::one_queue; absent if such workers would
  // not start sooner.
  std::optional<WorkerCommand> one_queue = {};
  std::size_t workers = 1;  // warm; 0: all jobs are fresh
  // Jobs queued per warm worker. With two, a worker has its next job while the driver judges the
  // last result; with one, a job that hangs does not delay another one.
  std::size_t jobs_per_worker = 2;
  // Idle workers kept ready. Also the number of fresh jobs that run at a time (at least one).
  std::size_t spares = 1;
  // Maximum number of workers that start at the same time. The contexts of a GPU are created one
  // after another, and each creation slows down the calls of running workers.
  std::size_t most_starting = std::numeric_limits<std::size_t>::max();
  // Maximum number of fresh jobs that have their turn at the same time. A GPU switches between the
  // contexts of several processes, and each process waits for the others whenever it waits for the
  // device. A turn ends with the job or after `turn`, so that a job that hangs, or computes on the
  // host, does not delay others.
  std::size_t most_in_turn = std::numeric_limits<std::size_t>::max();
  std::chrono::milliseconds turn{250};
  // A warm worker whose job has made no progress for this long counts as held up, with the jobs in
  // its queue. Until that job ends, another worker takes its place. The number of such replacements
  // is limited to `workers`, because each worker that hangs slows down the others.
  std::chrono::milliseconds held_up_after = std::chrono::milliseconds::max();
  // Maximum number of workers kept after a fresh job, for jobs that allow reuse. If it is more than
  // one, a quarter of them (at least one) is for jobs with Job::will_lose.
  std::size_t most_used = 0;
  // A warm worker is replaced after this many plans, which bounds the history of a failure.
  std::size_t recycle_after_plans = 4000;
  std::chrono::milliseconds start_deadline{30000};  // from fork to Hello
  std::chrono::milliseconds term_grace{200};        // from SIGTERM to SIGKILL
  std::chrono::milliseconds quit_grace{500};        // from Quit to SIGKILL
  // Time that a process has to end after its socket has closed: closing a device takes time.
  std::chrono::milliseconds close_grace{3000};
  // After this many consecutive workers ended before they began a trial, jobs fail.
  int most_failed_starts = 3;
  // Called once for each target whose code takes long to compile in a worker, with the time so far.
  std::function<void(const std::string& target, std::chrono::milliseconds)> compiles = {};
  // Called by poll() and wait_ready(). If it returns true, unfinished fresh jobs end as worker
  // errors, and wait_ready() returns a harness error.
  std::function<bool()> interrupted = {};
  std::string what = "worker";  // name of a worker in the log
};

class Pool final : public Executor {
 public:
  // Starts the first workers without waiting for them. `workers` or `spares` must be positive.
  explicit Pool(PoolOptions options);
  ~Pool() override;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void submit(Job job) override;
  std::optional<JobResult> next(std::chrono::milliseconds timeout) override;
  // Jobs that were submitted and not yet returned by next().
  std::size_t in_flight() const override { return in_flight_; }
  std::size_t max_in_flight() const override;
  BatchId submit_fresh(std::span<const Job> jobs) override;
  bool fresh_done(BatchId batch) const override { return batches_.at(batch).open == 0; }
  std::vector<JobResult> take_fresh(BatchId batch) override;
  void cancel_fresh(BatchId batch, const std::string& why) override;
  bool fresh_room(const Job& job) const override;
  void poll(std::chrono::milliseconds timeout) override;
  ExecutorStats stats() const override { return stats_; }

  // Waits until a worker has sent Hello, which describes the device. If no worker starts, returns a
  // harness error with the workers' own output.
  Result<Hello> wait_ready(std::chrono::milliseconds timeout);
  // Ends all workers: sends Quit, and kills after `quit_grace`. Jobs in flight are dropped.
  void stop();

 private:
  // pool.cpp: jobs.
  std::unique_ptr<PendingJob> admit(Plan plan, std::vector<TrialSpec> trials, const Job& job);
  void dispatch(Clock::time_point now);
  // A worker that has run nothing and has the queues, or null. If one queue suffices, a worker with
  // a single queue is preferred.
  Worker* idle_spare(Queues needed);
  // A used worker that the job allows and that has the queues, or null. For a job with
  // Job::will_lose, only workers whose last job had it, too. If the job allows a worker that has
  // run its target, such a worker is preferred: the others are left to jobs that do not allow it.
  Worker* idle_used(const PendingJob& job, Queues needed);
  // The worker that can run the fresh job now, or null.
  Worker* worker_for(const PendingJob& job, Clock::time_point now);
  void hand_out(Worker& worker, std::unique_ptr<PendingJob> job, Clock::time_point now);
  void finish(std::unique_ptr<PendingJob> job);
  void fail_waiting(const std::string& reason);

  // pool_workers.cpp: processes.
  void step(Clock::time_point until);
  void wait_for_events(Clock::time_point until);
  Clock::time_point next_timer(const Worker& worker) const;
  bool read_messages(Worker& worker, Clock::time_point now);
  // Each returns what is wrong with the message; nullopt if it is valid.
  std::optional<std::string> accept_any(Worker& worker, Message message, Clock::time_point now);
  std::optional<std::string> accept(Worker& worker, HelloMessage hello, Clock::time_point now);
  std::optional<std::string> accept(Worker& worker, TrialDoneMessage done, Clock::time_point now);
  std::optional<std::string> accept(Worker& worker, JobDoneMessage done, Clock::time_point now);
  void check_end(Worker& worker, Clock::time_point now);
  void check_clocks(Worker& worker, Clock::time_point now);
  void tell_compiling(const Worker& worker);
  void lose(Worker& worker, std::optional<Observation> last_trial, Clock::time_point now);
  void failed_start(Clock::time_point started, std::string reason, Clock::time_point now);
  void replenish(Clock::time_point now);
  // Number of workers that are held up and may be replaced.
  std::size_t replaceable() const;
  // True if the worker is warm and will not be ended after its jobs.
  bool is_lasting(const Worker& worker) const;
  // Number of lasting workers, without those that are replaced.
  std::size_t usable_warm() const;
  std::size_t missing_warm() const {
    return options_.workers - std::min(options_.workers, usable_warm());
  }
  // Whether the worker may be kept after its fresh job. May end another kept worker to make room.
  bool may_keep(const Worker& worker, Clock::time_point now);
  // Turns a spare into a warm worker if a warm worker is missing; true if it did.
  bool promote_spare(Clock::time_point now);
  // Queues of the next worker to start. Several, until there are enough such workers starting or
  // spare for all that need one, plus one in reserve; then one if jobs wait for such a worker. Half
  // of the remaining spares have several queues, because each finding needs workers of both kinds.
  Queues queues_to_start() const;
  void start_worker(Queues queues, Clock::time_point now);
  Zygote* zygote();
  std::size_t count(WorkerState state) const;
  bool interrupted() const { return options_.interrupted && options_.interrupted(); }
  std::size_t fresh_limit() const { return options_.spares > 0 ? options_.spares : 1; }
  // The end of the turn of the worker's fresh job; min() if it has none.
  Clock::time_point end_of_turn(const Worker& worker) const;
  bool has_turn(const Worker& worker, Clock::time_point now) const {
    return now < end_of_turn(worker);
  }
  // True if another fresh job may have its turn.
  bool has_free_turn(Clock::time_point now) const;
  // True if no worker is up and recent starts have failed; start_problem_ has the reason.
  bool hopeless() const;

  PoolOptions options_;
  std::optional<Zygote> zygote_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::deque<std::unique_ptr<PendingJob>> waiting_, waiting_fresh_;
  std::deque<JobResult> results_;
  struct Batch {
    std::vector<std::optional<JobResult>> results;
    std::size_t open = 0;  // not finished
  };
  std::map<BatchId, Batch> batches_;
  BatchId last_batch_ = 0;
  std::uint64_t done_ = 0;  // total
  std::size_t in_flight_ = 0;
  std::uint64_t last_ticket_ = 0;
  ExecutorStats stats_;
  std::optional<Hello> hello_;
  bool stopped_ = false;

  // If warm workers and fresh jobs both wait for a spare, they get one alternately, so that neither
  // starves.
  bool warm_is_next_ = true;
  // Times at which warm workers were lost, for those that have not been replaced yet.
  std::deque<Clock::time_point> vacancies_;
  int failed_starts_ = 0;
  std::set<std::string> told_to_compile_;
  std::string start_problem_;
  Clock::time_point last_failed_start_ = Clock::time_point::min();
  Clock::time_point next_start_ = Clock::time_point::min();
};

}  // namespace redzone::exec
