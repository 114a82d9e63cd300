// The executor over worker processes: warm workers for throughput, spares for fresh runs and to
// take the place of the dead.
//
// One thread; poll-driven: everything happens inside the calls of this class, and no call waits for
// a process to start or to die (but stop(), which is bounded). What a worker does wrong becomes an
// observation; none of it can block, crash or fill the driver.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/executor.h"
#include "exec/trial_host.h"
#include "exec/worker.h"

namespace redzone::exec {

struct PoolOptions {
  WorkerCommand command;
  std::size_t workers = 1;  // warm; 0: only fresh jobs come
  // That a warm worker is given at a time: two, so that it has its next job while the driver judges
  // the last; one where a job that hangs should keep no other waiting.
  std::size_t jobs_per_worker = 2;
  // Started and idle. Also the number of fresh jobs that run at a time (at least one).
  std::size_t spares = 1;
  // Workers kept after a fresh job, for jobs that allow reuse.
  std::size_t most_used = 0;
  // A warm worker is replaced after this many plans, which bounds the history of a failure.
  std::size_t recycle_after_plans = 4000;
  std::chrono::milliseconds start_deadline{30000};  // from fork to Hello
  std::chrono::milliseconds term_grace{200};        // from SIGTERM to SIGKILL
  std::chrono::milliseconds quit_grace{500};        // from Quit to SIGKILL
  // A process whose socket has closed is given this long to end: tearing a device down takes time.
  std::chrono::milliseconds close_grace{3000};
  // Workers that end before they begin a trial, one after another, until jobs are failed for it.
  int most_failed_starts = 3;
  // Asked by poll() and wait_ready(); true ends what is fresh and not done with worker errors, and
  // the wait with a harness error.
  std::function<bool()> interrupted = {};
};

class Pool final : public Executor {
 public:
  // Starts the first workers, without waiting for them. Some worker or spare must be asked for.
  explicit Pool(PoolOptions options);
  ~Pool() override;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void submit(Job job) override;
  std::optional<JobResult> next(std::chrono::milliseconds timeout) override;
  // Submitted and not yet returned by next().
  std::size_t in_flight() const override { return in_flight_; }
  std::size_t max_in_flight() const override { return options_.workers * options_.jobs_per_worker; }
  BatchId submit_fresh(std::span<const Job> jobs) override;
  bool fresh_done(BatchId batch) const override { return batches_.at(batch).open == 0; }
  std::vector<JobResult> take_fresh(BatchId batch) override;
  void cancel_fresh(BatchId batch, const std::string& why) override;
  bool fresh_room(bool reuse) const override;
  void poll(std::chrono::milliseconds timeout) override;
  ExecutorStats stats() const override { return stats_; }

  // Waits until a worker said Hello: what the device is. A harness error with the workers' own
  // words when none comes up.
  Result<Hello> wait_ready(std::chrono::milliseconds timeout);
  // Ends all workers: asks, and kills after `quit_grace`. Jobs in flight are dropped.
  void stop();

 private:
  // pool.cpp: jobs.
  std::unique_ptr<PendingJob> admit(Plan plan, std::vector<TrialSpec> trials, const Job& job);
  void dispatch(Clock::time_point now);
  Worker* idle(WorkerState state);  // null when there is none
  // The worker that the fresh job can have now, or null.
  Worker* worker_for(const PendingJob& job);
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
  void lose(Worker& worker, std::optional<Observation> blame, Clock::time_point now);
  void failed_start(Clock::time_point started, std::string reason, Clock::time_point now);
  void replenish(Clock::time_point now);
  std::size_t missing_warm() const;
  // Makes a spare a warm worker where one of those is missing; whether it did.
  bool promote_spare(Clock::time_point now);
  void start_worker(Clock::time_point now);
  std::size_t count(WorkerState state) const;
  bool interrupted() const { return options_.interrupted && options_.interrupted(); }
  std::size_t fresh_limit() const { return options_.spares > 0 ? options_.spares : 1; }
  // No worker is up and none will be soon: the reason.
  bool hopeless() const;

  PoolOptions options_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::deque<std::unique_ptr<PendingJob>> waiting_, waiting_fresh_;
  std::deque<JobResult> results_;
  struct Batch {
    std::vector<std::optional<JobResult>> results;
    std::size_t open = 0;  // that are still to come
  };
  std::map<BatchId, Batch> batches_;
  BatchId last_batch_ = 0;
  std::uint64_t done_ = 0;  // jobs, ever
  std::size_t in_flight_ = 0;
  std::uint64_t last_ticket_ = 0;
  ExecutorStats stats_;
  std::optional<Hello> hello_;
  bool stopped_ = false;

  // A spare goes to the warm workers and to fresh jobs in turns, where both wait for one: neither
  // starves.
  bool warm_is_next_ = true;
  std::deque<Clock::time_point> vacancies_;  // when warm workers were lost and not replaced yet
  int failed_starts_ = 0;
  std::string start_problem_;
  Clock::time_point last_failed_start_ = Clock::time_point::min();
  Clock::time_point next_start_ = Clock::time_point::min();
};

}  // namespace redzone::exec
