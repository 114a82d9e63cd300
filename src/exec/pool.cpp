#include "exec/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace redzone::exec {

namespace {

// How often a long wait asks whether it was interrupted.
constexpr std::chrono::milliseconds kAskInterval{50};

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
  pending->reuse = job.reuse;
  pending->end_at_loss = job.end_at_loss;
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

std::vector<JobResult> Pool::run_fresh(std::span<const Job> jobs,
                                       const std::function<bool()>& stop) {
  RZ_CHECK(!stopped_ && fresh_open_ == 0);
  fresh_results_.clear();
  fresh_results_.resize(jobs.size());
  fresh_open_ = jobs.size();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    auto pending = admit(jobs[i].plan, jobs[i].trials, jobs[i]);
    pending->fresh = i;
    if (pending->complete())
      finish(std::move(pending));
    else
      waiting_fresh_.push_back(std::move(pending));
  }
  while (fresh_open_ > 0) {
    step(Clock::now() + kAskInterval);
    if (heartbeat_) heartbeat_();
    if (!interrupted() && !(stop && stop())) continue;
    const char* why = interrupted() ? "interrupted" : "stopped";
    const auto now = Clock::now();
    for (auto& worker : workers_)
      if (worker->state == WorkerState::fresh) {
        worker->queue.front()->fail(why);
        lose(*worker, std::nullopt, now);
      }
    for (auto line = std::exchange(waiting_fresh_, {}); auto& job : line) {
      job->fail(why);
      finish(std::move(job));
    }
  }
  std::vector<JobResult> results;
  for (auto& r : fresh_results_) results.push_back(std::move(*r));
  fresh_results_.clear();
  return results;
}

void Pool::finish(std::unique_ptr<PendingJob> job) {
  if (!job->log) job->log = std::make_shared<const WorkerLog>();
  JobResult result{job->id, std::move(job->observations), std::move(job->log), job->log_size};
  if (job->fresh) {
    fresh_results_[*job->fresh] = std::move(result);
    --fresh_open_;
  } else {
    results_.push_back(std::move(result));
  }
}

void Pool::hand_out(Worker& worker, std::deque<std::unique_ptr<PendingJob>>& line,
                    Clock::time_point now) {
  auto job = std::move(line.front());
  line.pop_front();
  if (auto refused = worker.give(std::move(job), now)) finish(std::move(refused));
}

Worker* Pool::idle(WorkerState state) {
  for (auto& worker : workers_)
    if (worker->state == state) return worker.get();
  return nullptr;
}

void Pool::dispatch(Clock::time_point now) {
  while (!waiting_fresh_.empty() && count(WorkerState::fresh) < fresh_limit()) {
    Worker* worker = waiting_fresh_.front()->reuse ? idle(WorkerState::used) : nullptr;
    if (worker == nullptr) worker = idle(WorkerState::spare);
    if (worker == nullptr) break;
    const WorkerState before = std::exchange(worker->state, WorkerState::fresh);
    hand_out(*worker, waiting_fresh_, now);
    if (worker->queue.empty()) worker->state = before;  // the job was refused
  }
  promote_spares(now);
  // An idle worker first, then a second job for each.
  for (std::size_t depth = 0; depth < options_.jobs_per_worker; ++depth) {
    for (auto& worker : workers_) {
      if (waiting_.empty()) return;
      if (worker->state == WorkerState::warm && worker->queue.size() == depth &&
          worker->log->size() < options_.recycle_after_plans)
        hand_out(*worker, waiting_, now);
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
      return harness_error(fmt::format("no worker came up within {} ms", timeout.count()));
    if (interrupted()) return harness_error("interrupted before a worker was up");
    step(std::min(until, Clock::now() + kAskInterval));
  }
  return *hello_;
}

void Pool::stop() {
  if (stopped_) return;
  stopped_ = true;
  const auto now = Clock::now();
  for (auto& worker : workers_)
    if (worker->state != WorkerState::leaving)
      worker->leave(now, options_.quit_grace,
                    worker->queue.empty() && worker->state != WorkerState::starting);
  const auto until = now + options_.quit_grace;
  while (!workers_.empty() && Clock::now() < until) step(until);
  // All at once: the destructor of each process waits for its end.
  for (auto& worker : workers_) worker->process.signal_group(SIGKILL);
  workers_.clear();
}

}  // namespace redzone::exec
