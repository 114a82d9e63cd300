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

// Where the result of a fresh job is stored.
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
  std::optional<FreshPlace> fresh;                          // absent: from submit()
  std::size_t sent_from = 0;     // earlier trials were run by other workers
  int lost_starts = 0;           // workers that ended before they began its next trial
  std::size_t lost_workers = 0;  // workers that its trials killed
  std::vector<Observation> observations;
  std::shared_ptr<const WorkerLog> log;  // log of the worker that ran its first trial
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
  starting,  // has not sent Hello
  spare,     // has run nothing
  warm,      // runs submitted jobs
  fresh,     // runs a fresh job
  used,      // has run fresh jobs; idle, for jobs that allow reuse (Reuse)
  leaving,   // is being ended: will be reaped, and killed at `kill_at`
};

// The hardware queues of a worker's context, through which its streams reach the device.
enum class Queues : std::uint8_t { one, several };

// Maximum time by which compilation extends the deadline of a trial.
inline constexpr std::chrono::milliseconds kLongestCompilation{600'000};
// Two signs of compilation that are farther apart belong to two compilations: the time between them
// does not count.
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
  // Requests the worker's end, by Quit if `orderly` (which requires an idle worker), else by
  // SIGTERM; kills it after `grace`.
  void leave(Clock::time_point now, std::chrono::milliseconds grace, bool orderly);

  // True if the first job of the queue has begun its next trial, according to the black box.
  bool began_trial() const;
  // How long the current trial may go without progress.
  std::chrono::milliseconds silence_limit() const;
  // The deadline of the current trial, as far as known.
  Clock::time_point deadline() const;
  // When to check for progress next: several times per deadline. A deadline counts from the time at
  // which progress was noticed, not from the progress itself.
  Clock::time_point next_look() const;
  // Checks for progress since the last check; true if there was any before last_deadline(). Also
  // measures how long the process has waited for a processor, because this time extends the
  // deadline: on a busy machine a trial that does not hang takes many times as long.
  bool shows_progress(Clock::time_point now);
  // The time of the last sign of progress of its job.
  Clock::time_point last_sign() const { return std::max(last_heard, last_progress); }
  // Call when bytes arrived that do not complete a message: they count as progress.
  void hear_part(Clock::time_point now);
  // Discards the output so far, because later output belongs to another trial. The text of a failed
  // check is kept, because it explains the exit that follows. A result may arrive between the text
  // and the exit, because a Python worker and the proxy that prints the text are two processes.
  void begin_output();
  // Call when a message has arrived: the clock of the next trial starts.
  void hear(Clock::time_point now);
  // How long the current trial has shown signs of compiling.
  Clock::duration compiled() const;
  // The time after which progress no longer extends the deadline of the current trial. Requires a
  // job.
  Clock::time_point last_deadline() const;
  // The facts about the current trial that fault attribution needs.
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
  // Time of the last message, or of the last job given to an idle worker: start of the trial's
  // clock.
  Clock::time_point last_heard;
  // Time of the last job given to the worker while it was idle.
  Clock::time_point began = Clock::time_point::min();
  std::uint64_t progress = 0;  // BlackBox::progress at the last check
  Clock::time_point last_look = Clock::time_point::min();
  std::chrono::nanoseconds waited_in_all{0};  // total wait for a processor, at the last check
  std::chrono::nanoseconds waited{0};         // the same since the last sign of progress
  Clock::time_point last_progress = Clock::time_point::min();   // when progress was last noticed
  Clock::time_point last_comparing = Clock::time_point::min();  // when a reference last ran
  std::uint64_t compiling = 0;  // BlackBox::compiling at the last check
  // when a change of `compiling` was last noticed
  Clock::time_point last_compiling = Clock::time_point::min();
  Clock::duration compiled_before = {};        // time spent compiling in the current trial
  std::optional<Clock::time_point> closed_at;  // when the socket closed before the process ended
  Clock::time_point kill_at = Clock::time_point::max();
  bool proven = false;          // finished a trial
  bool may_have_ended = false;  // its exit descriptor is readable
  bool ended = false;
};

}  // namespace redzone::exec
