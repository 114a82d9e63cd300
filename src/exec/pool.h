// The executor over worker processes: warm workers for throughput, spares for fresh jobs and to
// replace dead workers.
//
// Single-threaded and poll-driven: all work happens inside the calls of this class, and no call
// waits for a process to start or die (except stop(), and the answer of a zygote, for a second at
// most). Misbehaviour of a worker becomes an observation; it cannot block, crash or exhaust the
// driver.
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
  // Whether the program of `command` knows --zygote (exec/zygote.h): workers are then forked from
  // one that has loaded the targets.
  bool has_zygote = false;
  // Starts workers with one hardware queue, for Job::one_queue; absent: they would start no sooner.
  std::optional<WorkerCommand> one_queue = {};
  std::size_t workers = 1;  // warm; 0: all jobs are fresh
  // Jobs queued per warm worker: two, so that its next job is there while the driver judges the
  // last; one if a job that hangs should not delay even the one that is queued behind it.
  std::size_t jobs_per_worker = 2;
  // Idle workers kept ready. Also the number of fresh jobs that run at a time (at least one).
  std::size_t spares = 1;
  // Workers that may be starting at the same time. Contexts of a GPU come up one after another,
  // and each that is under way slows the calls of the workers that are up.
  std::size_t most_starting = std::numeric_limits<std::size_t>::max();
  // Fresh jobs that may have their turn at the same time. A GPU switches between the contexts of
  // several processes, and each waits for the others whenever it waits for the device. A turn is
  // over with the job or after `turn`, so a job that hangs, or computes on the host, holds up none.
  std::size_t most_in_turn = std::numeric_limits<std::size_t>::max();
  std::chrono::milliseconds turn{250};
  // A warm worker whose job has made no progress for this long is held up, with what is queued in
  // it: until that job ends, another worker takes its place. Of as many as there are warm workers,
  // because each that hangs slows down the others.
  std::chrono::milliseconds held_up_after = std::chrono::milliseconds::max();
  // Workers kept after a fresh job, for jobs that allow reuse; of several, a quarter for those that
  // will lose them.
  std::size_t most_used = 0;
  // A warm worker is replaced after this many plans, which bounds the history of a failure.
  std::size_t recycle_after_plans = 4000;
  std::chrono::milliseconds start_deadline{30000};  // from fork to Hello
  std::chrono::milliseconds term_grace{200};        // from SIGTERM to SIGKILL
  std::chrono::milliseconds quit_grace{500};        // from Quit to SIGKILL
  // A process whose socket has closed is given this long to end: tearing a device down takes time.
  std::chrono::milliseconds close_grace{3000};
  // After this many consecutive workers that ended before they began a trial, jobs are failed.
  int most_failed_starts = 3;
  // Called once for each target whose code compiles for a while in a worker, with the time so far.
  std::function<void(const std::string& target, std::chrono::milliseconds)> compiles = {};
  // Called by poll() and wait_ready(). True ends unfinished fresh jobs as worker errors, and the
  // wait with a harness error.
  std::function<bool()> interrupted = {};
  std::string what = "worker";  // in the log
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
  // Submitted and not yet returned by next().
  std::size_t in_flight() const override { return in_flight_; }
  std::size_t max_in_flight() const override;
  BatchId submit_fresh(std::span<const Job> jobs) override;
  bool fresh_done(BatchId batch) const override { return batches_.at(batch).open == 0; }
  std::vector<JobResult> take_fresh(BatchId batch) override;
  void cancel_fresh(BatchId batch, const std::string& why) override;
  bool fresh_room(const Job& job) const override;
  void poll(std::chrono::milliseconds timeout) override;
  ExecutorStats stats() const override { return stats_; }

  // Waits until a worker has sent Hello, which describes the device. If none comes up, a harness
  // error with the workers' own output.
  Result<Hello> wait_ready(std::chrono::milliseconds timeout);
  // Ends all workers: sends Quit, and kills after `quit_grace`. Jobs in flight are dropped.
  void stop();

 private:
  // pool.cpp: jobs.
  std::unique_ptr<PendingJob> admit(Plan plan, std::vector<TrialSpec> trials, const Job& job);
  void dispatch(Clock::time_point now);
  // A worker that has run nothing and has the queues, or null. One with a single queue is preferred
  // where that will do.
  Worker* idle_spare(Queues needed);
  // A used worker that the job allows and that has the queues, or null. For a job that will lose
  // it (see Job) only one whose last job was such a job, too. One that has run the target is
  // preferred if the job allows that: others are left to jobs that do not.
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
  std::optional<std::string> accept(Worker& worker, Message message, Clock::time_point now);
  void check_end(Worker& worker, Clock::time_point now);
  void check_clocks(Worker& worker, Clock::time_point now);
  void tell_compiling(const Worker& worker);
  void lose(Worker& worker, std::optional<Observation> last_trial, Clock::time_point now);
  void failed_start(Clock::time_point started, std::string reason, Clock::time_point now);
  void replenish(Clock::time_point now);
  // Workers that are held up and may be replaced.
  std::size_t replaceable() const;
  // Warm, and not to be ended behind its jobs.
  bool is_lasting(const Worker& worker) const;
  // Lasting ones, without those that are replaced.
  std::size_t usable_warm() const;
  std::size_t missing_warm() const {
    return options_.workers - std::min(options_.workers, usable_warm());
  }
  // Whether the worker may be kept after its fresh job.
  bool may_keep(const Worker& worker, Clock::time_point now);
  // Turns a spare into a warm worker if one of those is missing; true if it did.
  bool promote_spare(Clock::time_point now);
  // Of the next worker to start: several as long as those are missing that are needed and one in
  // reserve, then one if a job waits for it. Of the spares that nobody waits for half have several,
  // because each finding needs some of both kinds.
  Queues queues_to_start() const;
  void start_worker(Queues queues, Clock::time_point now);
  Zygote* zygote();
  std::size_t count(WorkerState state) const;
  bool interrupted() const { return options_.interrupted && options_.interrupted(); }
  std::size_t fresh_limit() const { return options_.spares > 0 ? options_.spares : 1; }
  // When the turn of the worker's fresh job is over; min() if it has none.
  Clock::time_point end_of_turn(const Worker& worker) const;
  bool has_turn(const Worker& worker, Clock::time_point now) const {
    return now < end_of_turn(worker);
  }
  // True if one more fresh job may have its turn.
  bool has_free_turn(Clock::time_point now) const;
  // The reason if no worker is up and none will be soon.
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

  // If warm workers and fresh jobs both wait for a spare, they get one in turns: neither starves.
  bool warm_is_next_ = true;
  // Times at which warm workers were lost that are not replaced yet.
  std::deque<Clock::time_point> vacancies_;
  int failed_starts_ = 0;
  std::set<std::string> told_to_compile_;
  std::string start_problem_;
  Clock::time_point last_failed_start_ = Clock::time_point::min();
  Clock::time_point next_start_ = Clock::time_point::min();
};

}  // namespace redzone::exec
