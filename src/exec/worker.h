// A worker of the pool: a process, the channel to it, and its jobs.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "exec/channel.h"
#include "exec/executor.h"
#include "exec/output_tail.h"
#include "exec/worker_process.h"

namespace redzone::exec {

using Clock = std::chrono::steady_clock;

// Where the result of a fresh job goes.
struct FreshPlace {
  BatchId batch = 0;
  std::size_t index = 0;  // in the batch
};

// A job inside the pool. Owned by exactly one of: a queue, a worker, the results.
struct PendingJob {
  std::uint64_t id = 0;      // the caller's id
  std::uint64_t ticket = 0;  // id on the wire
  std::shared_ptr<const Plan> plan;
  std::vector<TrialSpec> trials;
  std::chrono::milliseconds deadline{0}, call_deadline{0};  // see Job
  Reuse reuse = Reuse::none;                                // see Job
  bool will_lose = false;                                   // see Job
  bool behind = false;                                      // see Job
  bool end_at_loss = false;                                 // see Job
  bool back_at_loss = false;                                // see Job
  bool one_queue = false;                                   // see Job
  bool side_by_side = false;                                // see Job
  std::optional<FreshPlace> fresh;                          // absent: submitted
  std::size_t sent_from = 0;     // earlier trials were run by other workers
  int lost_starts = 0;           // workers that ended before they began it
  std::size_t lost_workers = 0;  // workers that its trials cost
  std::vector<Observation> observations;
  std::shared_ptr<const WorkerLog> log;  // of the worker that ran its first trial
  std::size_t log_size = 0;

  bool complete() const { return observations.size() == trials.size(); }
  // True if its last trial killed the worker.
  bool killed_worker() const {
    if (observations.empty()) return false;
    const End last = observations.back().end;
    return last == End::fault || last == End::hang || last == End::exited;
  }
  // Drops the trials after one that killed its worker, if end_at_loss is set.
  void end_behind_loss() {
    if (end_at_loss && killed_worker()) trials.resize(observations.size());
  }
  // Ends all remaining trials.
  void fail(const std::string& reason) {
    while (!complete()) observations.push_back(worker_error(reason));
  }
};

enum class WorkerState : std::uint8_t {
  starting,  // no Hello yet
  spare,     // has run nothing
  warm,      // runs submitted jobs
  fresh,     // runs a fresh job
  used,      // has run fresh jobs; idle, for jobs that allow it (Reuse)
  leaving,   // being ended: to be reaped, and killed at `kill_at`
};

// The hardware queues of a worker's context, through which its streams reach the device.
enum class Queues : std::uint8_t { one, several };

// A trial may compile for this long in all, beside the time that it has anyway.
inline constexpr std::chrono::milliseconds kLongestCompilation{600'000};
// Signs of a compilation that are farther apart are of two: the time between was not spent on one.
inline constexpr std::chrono::milliseconds kBetweenSigns{5'000};

struct Worker {
  Worker(WorkerProcess p, Queues q, Clock::time_point now)
      : process(std::move(p)),
        channel(process.take_socket()),
        queues(q),
        started(now),
        last_heard(now) {}

  // Sends the remaining trials of `job` and logs its plan. If it cannot be sent, returns the job,
  // complete with the reason.
  std::unique_ptr<PendingJob> give(std::unique_ptr<PendingJob> job, Clock::time_point now);
  // Requests the worker's end, by Quit if `orderly` and idle, else by SIGTERM; kills it after
  // `grace`.
  void leave(Clock::time_point now, std::chrono::milliseconds grace, bool orderly);

  // True if the first job of the queue has begun its next trial, according to the black box.
  bool began_trial() const;
  // How long the current trial may make no progress.
  std::chrono::milliseconds patience() const;
  // When the current trial's deadline passes, as far as known.
  Clock::time_point deadline() const;
  // When to check for progress next: several times per deadline. A deadline counts from when
  // progress was noticed, not from when it was made.
  Clock::time_point next_look() const;
  // Checks for progress since the last check; true if the deadline has moved. Also notes how long
  // the process has waited for a processor, by which the deadline moves, too: on a busy machine a
  // trial that does not hang takes many times as long.
  bool shows_progress(Clock::time_point now);
  // The last sign of progress of its job.
  Clock::time_point last_sign() const { return std::max(last_heard, last_progress); }
  // Bytes arrived that do not complete a message: progress like any other.
  void hear_part(Clock::time_point now);
  // The output that follows belongs to another trial. The text of a failed check is kept: it
  // explains the exit that comes next, and a result may arrive between the two, because a Python
  // worker and the proxy that prints the text are two processes.
  void begin_output();
  // A message has arrived: the clock of the next trial starts.
  void hear(Clock::time_point now);
  // How long the current trial has shown signs of compiling.
  Clock::duration compiled() const;
  // After which no progress moves the deadline of the current trial. Requires a job.
  Clock::time_point last_deadline() const;
  // The facts that fault attribution needs about that trial.
  TrialContext trial_context() const;

  WorkerProcess process;
  Channel channel;
  OutputTail output;
  Queues queues;
  bool may_be_lost = false;  // Job::will_lose of its last fresh job
  bool held_up = false;      // its job has made no progress for PoolOptions::held_up_after
  WorkerState state = WorkerState::starting;
  std::deque<std::unique_ptr<PendingJob>> queue;
  std::shared_ptr<WorkerLog> log = std::make_shared<WorkerLog>();
  std::set<std::string> targets;  // of the plans in `log`
  Clock::time_point started;
  // Last message, or when an idle worker was given a job: start of the trial's clock.
  Clock::time_point last_heard;
  // When it was last given a job while idle.
  Clock::time_point began = Clock::time_point::min();
  std::uint64_t progress = 0;  // of the black box, at the last check
  Clock::time_point last_look = Clock::time_point::min();
  std::chrono::nanoseconds waited_in_all{0};                   // for a processor, at the last check
  std::chrono::nanoseconds waited{0};                          // since its last sign of progress
  Clock::time_point last_progress = Clock::time_point::min();  // when progress was last noticed
  Clock::time_point last_comparing = Clock::time_point::min();  // when a reference last ran
  std::uint64_t compiling = 0;  // of the black box, at the last check
  Clock::time_point last_compiling = Clock::time_point::min();  // when that was last noticed
  Clock::duration compiled_before = {};                         // between such times of one trial
  std::optional<Clock::time_point> closed_at;  // when the socket ended, if the process did not
  Clock::time_point kill_at = Clock::time_point::max();
  bool proven = false;          // finished a trial
  bool may_have_ended = false;  // its exit descriptor became readable
  bool ended = false;
};

}  // namespace redzone::exec
