#include "exec/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <tuple>
#include <utility>

#include "core/log.h"

namespace redzone::exec {

namespace {

// Removes and returns the first element that satisfies `wanted`. Most queues are short.
template <class Line, class Wanted>
auto take_first(Line& line, const Wanted& wanted) {
  const auto it = std::find_if(line.begin(), line.end(), wanted);
  typename Line::value_type taken;
  if (it == line.end()) return taken;
  taken = std::move(*it);
  line.erase(it);
  return taken;
}

}  // namespace

Pool::Pool(PoolOptions options) : options_(std::move(options)) {
  RZ_CHECK(options_.workers + options_.spares > 0);
  replenish(Clock::now());
}

Pool::~Pool() {
  stop();
}

std::unique_ptr<PendingJob> Pool::admit(Plan plan, std::vector<TrialSpec> trials, const Job& job) {
  auto pending = std::make_unique<PendingJob>();
  pending->id = job.id;
  pending->ticket = ++last_ticket_;
  pending->plan = std::make_shared<const Plan>(std::move(plan));
  pending->trials = std::move(trials);
  pending->deadline = job.deadline;
  pending->call_deadline = job.call_deadline;
  pending->reuse = job.reuse;
  pending->will_lose = job.will_lose;
  pending->behind = job.behind;
  pending->end_at_loss = job.end_at_loss;
  pending->back_at_loss = job.back_at_loss;
  pending->one_queue = job.one_queue;
  pending->side_by_side = job.side_by_side;
  return pending;
}

void Pool::submit(Job job) {
  RZ_CHECK(!stopped_ && options_.workers > 0);
  ++in_flight_;
  auto pending = admit(std::move(job.plan), std::move(job.trials), job);
  if (pending->complete()) return finish(std::move(pending));
  waiting_.push_back(std::move(pending));
  dispatch(Clock::now());
}

void Pool::poll(std::chrono::milliseconds timeout) {
  const auto until = Clock::now() + timeout;
  const auto before = done_;
  bool turn_was_taken = false, turn_is_over = false;
  do {
    turn_was_taken = turn_was_taken || !has_free_turn(Clock::now());
    step(std::min(until, Clock::now() + kAskInterval));
    turn_is_over = turn_was_taken && has_free_turn(Clock::now());
    if (!interrupted()) continue;
    for (const auto& [id, batch] : batches_)
      if (batch.open > 0) cancel_fresh(id, "interrupted");
  } while (results_.empty() && done_ == before && !turn_is_over && Clock::now() < until);
}

std::optional<JobResult> Pool::next(std::chrono::milliseconds timeout) {
  const auto until = Clock::now() + timeout;
  for (bool stepped = false; results_.empty() && in_flight_ > 0; stepped = true) {
    if (stepped && Clock::now() >= until) return std::nullopt;
    step(until);
  }
  if (results_.empty()) return std::nullopt;
  JobResult result = std::move(results_.front());
  results_.pop_front();
  --in_flight_;
  return result;
}

BatchId Pool::submit_fresh(std::span<const Job> jobs) {
  RZ_CHECK(!stopped_);
  const BatchId id = ++last_batch_;
  Batch& batch = batches_[id];
  batch.results.resize(jobs.size());
  batch.open = jobs.size();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    auto pending = admit(jobs[i].plan, jobs[i].trials, jobs[i]);
    pending->fresh = FreshPlace{id, i};
    if (pending->complete())
      finish(std::move(pending));
    else
      waiting_fresh_.push_back(std::move(pending));
  }
  dispatch(Clock::now());
  return id;
}

std::vector<JobResult> Pool::take_fresh(BatchId batch) {
  auto node = batches_.extract(batch);
  RZ_CHECK(!node.empty() && node.mapped().open == 0);
  std::vector<JobResult> results;
  for (auto& r : node.mapped().results) results.push_back(std::move(*r));
  return results;
}

void Pool::cancel_fresh(BatchId batch, const std::string& why) {
  const auto is_of_batch = [batch](const auto& job) {
    return job->fresh && job->fresh->batch == batch;
  };
  const auto now = Clock::now();
  while (auto job = take_first(waiting_fresh_, is_of_batch)) {
    job->fail(why);
    finish(std::move(job));
  }
  for (auto& worker : workers_)
    if (worker->state == WorkerState::fresh && is_of_batch(worker->queue.front())) {
      for (const auto& job : worker->queue) job->fail(why);
      lose(*worker, std::nullopt, now);
    }
}

Clock::time_point Pool::end_of_turn(const Worker& worker) const {
  return worker.state == WorkerState::fresh ? worker.began + options_.turn
                                            : Clock::time_point::min();
}

bool Pool::has_free_turn(Clock::time_point now) const {
  const auto taken = std::count_if(workers_.begin(), workers_.end(),
                                   [&](const auto& worker) { return has_turn(*worker, now); });
  return static_cast<std::size_t>(taken) < options_.most_in_turn;
}

bool Pool::fresh_room(const Job& job) const {
  return count(WorkerState::fresh) < fresh_limit() && has_free_turn(Clock::now()) &&
         std::none_of(waiting_fresh_.begin(), waiting_fresh_.end(), [&](const auto& waiting) {
           return waiting->reuse == job.reuse && waiting->will_lose == job.will_lose &&
                  waiting->one_queue == job.one_queue;
         });
}

void Pool::finish(std::unique_ptr<PendingJob> job) {
  if (!job->log) job->log = std::make_shared<const WorkerLog>();
  JobResult result{job->id, std::move(job->observations), std::move(job->log), job->log_size,
                   job->lost_workers};
  if (job->fresh) {
    Batch& batch = batches_.at(job->fresh->batch);
    batch.results[job->fresh->index] = std::move(result);
    --batch.open;
  } else {
    results_.push_back(std::move(result));
  }
  ++done_;
}

void Pool::hand_out(Worker& worker, std::unique_ptr<PendingJob> job, Clock::time_point now) {
  log::debug("{} {} gets job {} of {}: {} trials", options_.what, worker.process.pid(), job->id,
             job->plan->target, job->trials.size() - job->observations.size());
  if (auto refused = worker.give(std::move(job), now)) finish(std::move(refused));
}

Worker* Pool::idle_spare(Queues needed) {
  Worker* best = nullptr;
  for (auto& worker : workers_) {
    if (worker->state != WorkerState::spare) continue;
    if (worker->queues == needed) return worker.get();
    if (needed == Queues::one) best = worker.get();
  }
  return best;
}

Worker* Pool::idle_used(const PendingJob& job, Queues needed) {
  const auto knows_target = [&](const Worker& w) { return w.targets.contains(job.plan->target); };
  const auto is_allowed = [&](const Worker& w) {
    return w.state == WorkerState::used && (w.may_be_lost || !job.will_lose) &&
           (w.queues == needed || needed == Queues::one) &&
           (job.reuse == Reuse::any || !knows_target(w));
  };
  // Lower is better. Prefers workers whose last fresh job had the same will_lose; the others are
  // for jobs of the other kind.
  const auto rank = [&](const Worker& w) {
    return std::tuple(w.may_be_lost != job.will_lose, !knows_target(w), w.queues != needed);
  };
  Worker* best = nullptr;
  for (auto& worker : workers_)
    if (is_allowed(*worker) && (best == nullptr || rank(*worker) < rank(*best)))
      best = worker.get();
  return best;
}

Worker* Pool::worker_for(const PendingJob& job, Clock::time_point now) {
  if (!job.side_by_side && !has_free_turn(now)) return nullptr;
  const Queues needed = job.one_queue ? Queues::one : Queues::several;
  if (job.reuse != Reuse::none)
    if (Worker* used = idle_used(job, needed)) return used;
  if (job.reuse == Reuse::any) {
    // Kept workers will be free soon, unless their turn is over; a spare costs more.
    const auto kept = std::count_if(workers_.begin(), workers_.end(), [&](const auto& w) {
      return has_turn(*w, now) && w->queue.front()->reuse != Reuse::none;
    });
    if (options_.most_used > 0 && static_cast<std::size_t>(kept) >= options_.most_used)
      return nullptr;
  }
  Worker* spare = idle_spare(needed);
  // If warm workers are missing too, they and fresh jobs get spares alternately.
  const bool fit_for_warm = spare != nullptr && spare->queues == Queues::several;
  if (fit_for_warm && warm_is_next_ && missing_warm() > 0) return nullptr;
  return spare;
}

void Pool::dispatch(Clock::time_point now) {
  while (count(WorkerState::fresh) < fresh_limit()) {
    // A job that waits for a spare does not delay jobs that can use a used worker.
    Worker* worker = nullptr;
    auto job = take_first(waiting_fresh_, [&](const auto& waiting) {
      return (worker = worker_for(*waiting, now)) != nullptr;
    });
    if (job == nullptr) {
      if (!promote_spare(now)) break;
      continue;
    }
    const WorkerState before = std::exchange(worker->state, WorkerState::fresh);
    worker->may_be_lost = job->will_lose;
    FreshPlace last = *job->fresh;
    hand_out(*worker, std::move(job), now);
    const auto is_next = [&](const auto& waiting) {
      return waiting->behind && waiting->fresh->batch == last.batch &&
             waiting->fresh->index == last.index + 1;
    };
    while (!worker->queue.empty()) {
      auto linked = take_first(waiting_fresh_, is_next);
      if (linked == nullptr) break;
      last = *linked->fresh;
      hand_out(*worker, std::move(linked), now);
    }
    if (worker->queue.empty())
      worker->state = before;  // the job was refused
    else if (before == WorkerState::spare)
      warm_is_next_ = true;
  }
  while (promote_spare(now)) {
  }
  // Idle workers first, then a second job for each. Surplus warm workers get no more jobs; they
  // exist if workers were replaced while they were held up.
  const std::size_t usable = usable_warm();
  for (std::size_t depth = 0; depth < options_.jobs_per_worker; ++depth) {
    std::size_t too_many = usable - std::min(usable, options_.workers);
    for (auto& worker : workers_) {
      if (waiting_.empty()) return;
      if (!is_lasting(*worker) || worker->held_up) continue;
      if (too_many > 0) {
        --too_many;
      } else if (worker->queue.size() == depth) {
        auto job = std::move(waiting_.front());
        waiting_.pop_front();
        hand_out(*worker, std::move(job), now);
      }
    }
  }
}

void Pool::fail_waiting(const std::string& reason) {
  std::deque<std::unique_ptr<PendingJob>> lines[] = {std::exchange(waiting_fresh_, {}), {}};
  if (count(WorkerState::warm) == 0) lines[1] = std::exchange(waiting_, {});
  for (auto& line : lines)
    for (auto& job : line) {
      job->fail(reason);
      finish(std::move(job));
    }
}

Result<Hello> Pool::wait_ready(std::chrono::milliseconds timeout) {
  const auto until = Clock::now() + timeout;
  while (!hello_) {
    if (hopeless()) return harness_error(start_problem_);
    if (Clock::now() >= until)
      return harness_error(fmt::format("no worker came up within {} ms{}{}", timeout.count(),
                                       start_problem_.empty() ? "" : ": ", start_problem_));
    if (interrupted()) return harness_error("interrupted before a worker was up");
    step(std::min(until, Clock::now() + kAskInterval));
  }
  return *hello_;
}

void Pool::stop() {
  if (stopped_) return;
  stopped_ = true;
  zygote_.reset();
  const auto now = Clock::now();
  for (auto& worker : workers_)
    if (worker->state != WorkerState::leaving)
      worker->leave(now, options_.quit_grace,
                    worker->queue.empty() && worker->state != WorkerState::starting);
  const auto until = now + options_.quit_grace;
  while (!workers_.empty() && Clock::now() < until) step(until);
  // Send all signals first, because the destructor of each process waits for its end.
  for (auto& worker : workers_) worker->process.signal_group(SIGKILL);
  workers_.clear();
}

}  // namespace redzone::exec
