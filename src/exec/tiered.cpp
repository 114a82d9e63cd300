#include "exec/tiered.h"

#include <algorithm>
#include <utility>

#include "exec/fault_attribution.h"

namespace redzone::exec {
namespace {

// Executors are polled in turns if several have work in flight.
constexpr std::chrono::milliseconds kTurn{2};

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

std::optional<Job> TieredExecutor::split(Job job, Ticket ticket, std::optional<BatchId> batch) {
  Open& open = open_[ticket];
  open.result.id = job.id;
  open.observations.resize(job.trials.size());
  open.result.log = std::make_shared<const WorkerLog>();
  open.batch = batch;
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
  // If the native part came back (Job::back_at_loss), another part of the job might have run
  // already.
  if (!under.empty()) native.back_at_loss = false;
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
    part.call_deadline = std::chrono::milliseconds::max();
    part.back_at_loss = false;
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
  ++submitted_;
  if (auto native = split(std::move(job), ticket, {})) native_.submit(std::move(*native));
  finish_if_complete(ticket);
}

void TieredExecutor::join(const Executor* from, JobResult part) {
  const auto it = open_.find(part.id);
  if (it == open_.end()) return;  // its batch was cancelled
  Open& open = it->second;
  const auto& indices = open.trials[from];
  RZ_CHECK(part.observations.size() <= indices.size());
  for (std::size_t i = 0; i < part.observations.size(); ++i)
    open.observations[indices[i]] = std::move(part.observations[i]);
  if (from == &native_) {
    open.result.log = std::move(part.log);
    open.result.log_size = part.log_size;
  }
  open.result.lost_workers += part.lost_workers;
  --open.parts;
  finish_if_complete(it->first);
}

void TieredExecutor::finish_if_complete(Ticket ticket) {
  const auto it = open_.find(ticket);
  Open& open = it->second;
  if (open.parts > 0) return;
  // No observation follows a trial that was not run (Job::end_at_loss).
  for (auto& observation : open.observations) {
    if (!observation) break;
    open.result.observations.push_back(std::move(*observation));
  }
  if (open.batch) {
    Batch& batch = batches_.at(*open.batch);
    batch.results.emplace(ticket, std::move(open.result));
    --batch.open;
  } else {
    done_.push_back(std::move(open.result));
    --submitted_;
  }
  open_.erase(it);
}

void TieredExecutor::poll(std::chrono::milliseconds timeout) {
  std::vector<Executor*> tools;
  for (auto& [tool, executor] : tiers_)
    if (executor && (*executor)->in_flight() > 0) tools.push_back(executor->get());
  const auto turn = tools.empty() ? timeout : std::min(timeout, kTurn);
  native_.poll(turn);
  while (auto part = native_.next(std::chrono::milliseconds(0))) join(&native_, std::move(*part));
  for (auto& [id, batch] : batches_)
    if (batch.native && native_.fresh_done(*batch.native)) take_native(batch);
  for (Executor* tool : tools)
    if (auto part = tool->next(turn)) join(tool, std::move(*part));
  if (!options_.interrupted || !options_.interrupted()) return;
  for (const auto& [id, batch] : batches_)
    if (batch.open > 0) cancel_fresh(id, "interrupted");
}

std::optional<JobResult> TieredExecutor::next(std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  for (bool polled = false; done_.empty() && submitted_ > 0; polled = true) {
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

void TieredExecutor::take_native(Batch& batch) {
  for (auto& part : native_.take_fresh(*std::exchange(batch.native, {})))
    join(&native_, std::move(part));
}

BatchId TieredExecutor::submit_fresh(std::span<const Job> jobs) {
  const BatchId id = ++last_batch_;
  Batch& batch = batches_[id];
  batch.open = jobs.size();
  std::vector<Job> native;
  for (const auto& job : jobs) {
    const Ticket ticket = batch.tickets.emplace_back(++last_ticket_);
    if (auto part = split(job, ticket, id)) native.push_back(std::move(*part));
    finish_if_complete(ticket);
  }
  if (!native.empty()) batch.native = native_.submit_fresh(native);
  return id;
}

std::vector<JobResult> TieredExecutor::take_fresh(BatchId batch) {
  auto node = batches_.extract(batch);
  RZ_CHECK(!node.empty() && node.mapped().open == 0);
  std::vector<JobResult> results;
  for (auto ticket : node.mapped().tickets)
    results.push_back(std::move(node.mapped().results.at(ticket)));
  return results;
}

// A single trial under a tool cannot be cancelled: its result is dropped when it arrives.
void TieredExecutor::cancel_fresh(BatchId id, const std::string& why) {
  Batch& batch = batches_.at(id);
  if (batch.native) {
    native_.cancel_fresh(*batch.native, why);
    take_native(batch);
  }
  for (auto ticket : batch.tickets) {
    const auto it = open_.find(ticket);
    if (it == open_.end()) continue;
    for (auto& observation : it->second.observations)
      if (!observation) observation = worker_error(why);
    it->second.parts = 0;
    finish_if_complete(ticket);
  }
}

ExecutorStats TieredExecutor::stats() const {
  ExecutorStats sum = native_.stats();
  for (const auto& [tool, executor] : tiers_) {
    if (!executor) continue;
    const ExecutorStats more = (*executor)->stats();
    sum.workers_started += more.workers_started;
    sum.workers_up += more.workers_up;
    sum.workers_lost += more.workers_lost;
    sum.trials += more.trials;
    sum.fault_wait_us += more.fault_wait_us;
  }
  return sum;
}

}  // namespace redzone::exec
