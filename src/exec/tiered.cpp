#include "exec/tiered.h"

#include <algorithm>
#include <utility>

#include "exec/blame.h"

namespace redzone::exec {
namespace {

// Executors are driven by turns where several have work in flight.
constexpr std::chrono::milliseconds kTurn{2};
constexpr std::chrono::milliseconds kAskInterval{50};

}  // namespace

TieredExecutor::TieredExecutor(Executor& native, TieredOptions options)
    : native_(native), options_(std::move(options)) {}

TieredExecutor::~TieredExecutor() = default;

Executor* TieredExecutor::tier(SanitizerTool tool, std::string& why) {
  auto it = tiers_.find(tool);
  if (it == tiers_.end()) it = tiers_.emplace(tool, options_.sanitized(tool)).first;
  if (it->second) return it->second->get();
  why = it->second.error().message;
  return nullptr;
}

std::optional<Job> TieredExecutor::split(Job job, Ticket ticket, bool fresh) {
  Open& open = open_[ticket];
  open.result.id = job.id;
  open.observations.resize(job.trials.size());
  open.result.log = std::make_shared<const WorkerLog>();
  open.fresh = fresh;
  Job native = job;
  native.id = ticket;
  native.trials.clear();
  std::map<SanitizerTool, std::vector<std::size_t>> under;
  for (std::size_t i = 0; i < job.trials.size(); ++i) {
    const SanitizerTool tool = job.trials[i].mode.sanitizer;
    if (tool == SanitizerTool::none) {
      native.trials.push_back(job.trials[i]);
      open.trials[&native_].push_back(i);
    } else {
      under[tool].push_back(i);
    }
  }
  for (const auto& [tool, indices] : under) {
    std::string why;
    Executor* executor = tier(tool, why);
    if (executor == nullptr) {
      for (auto i : indices) open.observations[i] = worker_error(why);
      continue;
    }
    Job part = job;
    part.id = ticket;
    part.deadline *= options_.slowdown;
    part.trials.clear();
    for (auto i : indices) part.trials.push_back(job.trials[i]);
    open.trials[executor] = indices;
    ++open.parts;
    executor->submit(std::move(part));
  }
  if (native.trials.empty() && !job.trials.empty()) return std::nullopt;
  ++open.parts;
  return native;
}

void TieredExecutor::submit(Job job) {
  const Ticket ticket = ++last_ticket_;
  if (auto native = split(std::move(job), ticket, false)) native_.submit(std::move(*native));
  finish_if_complete(ticket);
}

void TieredExecutor::join(const Executor* from, JobResult part) {
  const auto it = open_.find(part.id);
  if (it == open_.end()) return;  // of a run_fresh() that was interrupted
  Open& open = it->second;
  const auto& indices = open.trials[from];
  RZ_CHECK(part.observations.size() <= indices.size());
  for (std::size_t i = 0; i < part.observations.size(); ++i)
    open.observations[indices[i]] = std::move(part.observations[i]);
  if (from == &native_) {
    open.result.log = std::move(part.log);
    open.result.log_size = part.log_size;
  }
  --open.parts;
  finish_if_complete(it->first);
}

void TieredExecutor::finish_if_complete(Ticket ticket) {
  const auto it = open_.find(ticket);
  Open& open = it->second;
  if (open.parts > 0) return;
  // Behind a trial that was not run (Job::end_at_loss) there is nothing.
  for (auto& observation : open.observations) {
    if (!observation) break;
    open.result.observations.push_back(std::move(*observation));
  }
  if (open.fresh)
    done_fresh_.emplace(ticket, std::move(open.result));
  else
    done_.push_back(std::move(open.result));
  open_.erase(it);
}

void TieredExecutor::poll(std::chrono::milliseconds timeout) {
  std::vector<Executor*> busy;
  if (native_.in_flight() > 0) busy.push_back(&native_);
  for (auto& [tool, executor] : tiers_)
    if (executor && (*executor)->in_flight() > 0) busy.push_back(executor->get());
  const auto turn = busy.size() > 1 ? std::min(timeout, kTurn) : timeout;
  for (Executor* executor : busy)
    if (auto part = executor->next(turn)) join(executor, std::move(*part));
}

std::optional<JobResult> TieredExecutor::next(std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  for (bool polled = false; done_.empty() && !open_.empty(); polled = true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (polled && left.count() <= 0) return std::nullopt;
    poll(std::max(left, std::chrono::milliseconds(0)));
  }
  if (done_.empty()) return std::nullopt;
  JobResult result = std::move(done_.front());
  done_.pop_front();
  return result;
}

std::vector<JobResult> TieredExecutor::run_fresh(std::span<const Job> jobs,
                                                 const std::function<bool()>& stop) {
  const Ticket first = last_ticket_ + 1;
  std::vector<Job> native;
  for (const auto& job : jobs) {
    const Ticket ticket = ++last_ticket_;
    if (auto part = split(job, ticket, true)) native.push_back(std::move(*part));
    finish_if_complete(ticket);
  }
  if (!native.empty())
    for (auto& part : native_.run_fresh(native, stop)) join(&native_, std::move(part));
  std::vector<JobResult> results;
  for (Ticket ticket = first; ticket < first + jobs.size(); ++ticket) {
    while (open_.contains(ticket) && !interrupted() && !(stop && stop())) {
      poll(kAskInterval);
      if (heartbeat_) heartbeat_();
    }
    if (const auto it = open_.find(ticket); it != open_.end()) {
      for (const auto& [executor, indices] : it->second.trials)
        if (executor != &native_)
          for (auto i : indices)
            it->second.observations[i] = worker_error(interrupted() ? "interrupted" : "stopped");
      it->second.parts = 0;
      finish_if_complete(ticket);
    }
    results.push_back(std::move(done_fresh_.at(ticket)));
    done_fresh_.erase(ticket);
  }
  return results;
}

void TieredExecutor::set_heartbeat(std::function<void()> beat) {
  native_.set_heartbeat(beat);
  heartbeat_ = std::move(beat);
}

ExecutorStats TieredExecutor::stats() const {
  ExecutorStats sum = native_.stats();
  for (const auto& [tool, executor] : tiers_) {
    if (!executor) continue;
    const ExecutorStats more = (*executor)->stats();
    sum.workers_started += more.workers_started;
    sum.workers_lost += more.workers_lost;
    sum.trials += more.trials;
    sum.fault_wait_us += more.fault_wait_us;
  }
  return sum;
}

}  // namespace redzone::exec
