// A worker of the pool: a process, the channel to it, and the jobs it was given.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
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

// A job inside the pool. One owner at a time: a waiting line, a worker, or the results.
struct PendingJob {
  std::uint64_t id = 0;      // the caller's
  std::uint64_t ticket = 0;  // the wire's
  std::shared_ptr<const Plan> plan;
  std::vector<TrialSpec> trials;
  std::chrono::milliseconds deadline{0};
  bool reuse = false;               // may run in a used worker
  bool end_at_loss = false;         // see Job
  std::optional<FreshPlace> fresh;  // absent: submitted
  std::size_t sent_from = 0;        // trials before this one were done elsewhere
  int lost_starts = 0;              // workers that ended before they began it
  std::vector<Observation> observations;
  std::shared_ptr<const WorkerLog> log;  // of the worker that ran its first trial
  std::size_t log_size = 0;

  bool complete() const { return observations.size() == trials.size(); }
  // Leaves out the trials behind one that took its worker down, where that is wanted.
  void end_behind_loss() {
    if (!end_at_loss || observations.empty()) return;
    const End last = observations.back().end;
    if (last == End::fault || last == End::hang || last == End::exited)
      trials.resize(observations.size());
  }
  // Ends all trials that are left.
  void fail(const std::string& reason) {
    while (!complete()) observations.push_back(worker_error(reason));
  }
};

enum class WorkerState : std::uint8_t {
  starting,  // no Hello yet
  spare,     // has run nothing
  warm,      // runs submitted jobs
  fresh,     // runs a fresh job
  used,      // has run such jobs; idle, and good for those that allow reuse
  leaving,   // given up: to be reaped, and killed at `kill_at`
};

struct Worker {
  Worker(WorkerProcess p, Clock::time_point now)
      : process(std::move(p)), channel(process.take_socket()), started(now), last_heard(now) {}

  // Sends the trials of `job` that are still to be run, and logs its plan. Gives the job back,
  // complete with the reason, when it cannot be sent.
  std::unique_ptr<PendingJob> give(std::unique_ptr<PendingJob> job, Clock::time_point now);
  // Asks it to end, by Quit when it is idle, else by SIGTERM; killed after `grace`.
  void leave(Clock::time_point now, std::chrono::milliseconds grace, bool orderly);

  // True when the first job of the queue has begun its next trial, by the black box.
  bool began_trial() const;
  // How long the trial at hand may show no sign of life.
  std::chrono::milliseconds patience() const;
  // When the current trial's deadline passes, as far as is known.
  Clock::time_point deadline() const;
  // When to look for signs of life next: several times a deadline, which counts from the time that
  // one was seen rather than from the sign itself.
  Clock::time_point next_look() const;
  // Looks for signs of life since the last look; true when the deadline has moved.
  bool shows_progress(Clock::time_point now);
  // What attribution needs to know of that trial.
  TrialContext trial_context() const;

  WorkerProcess process;
  Channel channel;
  OutputTail output;
  WorkerState state = WorkerState::starting;
  std::deque<std::unique_ptr<PendingJob>> queue;
  std::shared_ptr<WorkerLog> log = std::make_shared<WorkerLog>();
  Clock::time_point started;
  Clock::time_point last_heard;  // or when an idle worker was given a job: the trial's clock
  std::uint64_t progress = 0;    // of the black box, when it was looked at last
  Clock::time_point last_look = Clock::time_point::min();
  Clock::time_point last_progress = Clock::time_point::min();   // when it was seen to have grown
  Clock::time_point last_comparing = Clock::time_point::min();  // when a reference was seen to run
  std::optional<Clock::time_point> closed_at;  // the socket ended but the process did not
  Clock::time_point kill_at = Clock::time_point::max();
  bool proven = false;          // finished a trial
  bool may_have_ended = false;  // its exit descriptor became readable
  bool ended = false;
};

}  // namespace redzone::exec
