#include "campaign/tasks.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/trial.h"

namespace redzone::campaign {

// One task: its stack and the trials or condition that it waits for.
class Tasks::Running final : public exec::Runner {
 public:
  Running(exec::Executor& executor, Task task, std::size_t most_together)
      : task_(std::move(task)),
        executor_(executor),
        most_together_(most_together),
        coroutine_([this] { task_.body(*this); }) {}
  // Cancels the task's trials, then unwinds the body if it has not ended.
  ~Running() override {
    if (batch_) executor_.cancel_fresh(*batch_, "stopped");
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  using Runner::run_fresh;
  std::vector<exec::JobResult> run_fresh(std::span<const exec::Job> jobs,
                                         const exec::RunOptions& options) override {
    wanted_ = Wanted{jobs, options};
    results_.clear();
    coroutine_.suspend();
    return std::move(results_);
  }
  void wait_until(const std::function<bool()>& done) override {
    done_ = &done;
    coroutine_.suspend();
    done_ = nullptr;
  }

  // True if the task can continue: its results are available, or will not come.
  bool is_ready(bool closed) {
    if (done_ != nullptr) return (*done_)();
    if (!wanted_) return true;  // the task has not begun
    const bool stopped = wanted_->options.stop && wanted_->options.stop();
    if (batch_) {
      if (stopped) executor_.cancel_fresh(*batch_, "stopped");
      if (!executor_.fresh_done(*batch_)) return false;
      take(executor_.take_fresh(*std::exchange(batch_, {})));
    }
    if (!left().empty() && !stopped && !closed) return false;
    if (!left().empty()) {
      auto none = not_run(left());
      std::move(none.begin(), none.end(), std::back_inserter(results_));
    }
    wanted_.reset();
    return true;
  }
  void go_on() { coroutine_.resume(); }
  bool ended() const { return coroutine_.ended(); }

  bool waits_for_workers() const { return wanted_.has_value() && !batch_; }
  bool is_running() const { return batch_.has_value(); }
  bool alone() const { return wanted_ && wanted_->options.alone; }
  // True if the executor will soon have a worker for the task's next job.
  bool has_room() const {
    return executor_.fresh_room(left().empty() ? exec::Job{} : left().front());
  }
  Rank rank() const { return task_.rank ? task_.rank() : Rank{}; }
  // Submits the next batch of the task's jobs.
  void submit() { batch_ = executor_.submit_fresh(left().first(together())); }
  const Task& task() const { return task_; }

 private:
  struct Wanted {
    std::span<const exec::Job> jobs;  // on the stack of the task
    exec::RunOptions options;
  };

  // The jobs that have not been submitted. Call only while no batch is in flight.
  std::span<const exec::Job> left() const { return wanted_->jobs.subspan(results_.size()); }
  // Size of the next batch. Jobs that one worker must run, or that must run side by side, are kept
  // together.
  std::size_t together() const {
    const auto jobs = left();
    const auto belongs = [](const exec::Job& job) { return job.behind || job.side_by_side; };
    const auto at_most = std::min(most_together_, jobs.size());
    return static_cast<std::size_t>(
        std::find_if_not(jobs.begin() + static_cast<std::ptrdiff_t>(at_most), jobs.end(), belongs) -
        jobs.begin());
  }
  void take(std::vector<exec::JobResult> results) {
    if (task_.ran) task_.ran(left().first(results.size()), results);
    std::move(results.begin(), results.end(), std::back_inserter(results_));
  }

  static std::vector<exec::JobResult> not_run(std::span<const exec::Job> jobs) {
    std::vector<exec::JobResult> results;
    Observation stopped;
    stopped.message = "stopped";
    for (const auto& job : jobs)
      results.push_back({job.id, std::vector<Observation>(job.trials.size(), stopped),
                         std::make_shared<const exec::WorkerLog>(), 0});
    return results;
  }

  Task task_;
  exec::Executor& executor_;
  std::size_t most_together_;
  std::optional<Wanted> wanted_;
  std::optional<exec::BatchId> batch_;
  std::vector<exec::JobResult> results_;
  const std::function<bool()>* done_ = nullptr;
  Coroutine coroutine_;  // last, because unwinding uses the other members
};

Tasks::Tasks(exec::Executor& executor, std::size_t most_together)
    : executor_(executor), most_together_(most_together) {
  RZ_CHECK(most_together_ > 0);
}

Tasks::~Tasks() = default;

void Tasks::add(Task task) {
  tasks_.push_back(std::make_unique<Running>(executor_, std::move(task), most_together_));
}

void Tasks::advance() {
  bool any = true;
  while (any) {
    any = go_on();
    submit();
  }
}

// Resumes every task that can continue, once; returns true if there was one.
bool Tasks::go_on() {
  bool any = false;
  for (auto it = tasks_.begin(); it != tasks_.end();) {
    Running& running = **it;
    if (!running.is_ready(closed_)) {
      ++it;
      continue;
    }
    any = true;
    running.go_on();
    if (!running.ended()) {
      ++it;
      continue;
    }
    const auto ended = std::move(*it);
    it = tasks_.erase(it);
    if (ended->task().ended) ended->task().ended();
  }
  return any;
}

bool Tasks::is_quiet() const {
  return want_quiet() && executor_.in_flight() == 0 &&
         std::none_of(tasks_.begin(), tasks_.end(), [](const auto& t) { return t->is_running(); });
}

// Tasks that do not need the device alone come first.
bool Tasks::want_quiet() const {
  return !tasks_.empty() &&
         std::all_of(tasks_.begin(), tasks_.end(), [](const auto& t) { return t->alone(); });
}

void Tasks::submit() {
  if (closed_) return;
  std::vector<std::pair<Rank, Running*>> waiting;
  bool one_is_alone = false;
  for (const auto& t : tasks_) {
    one_is_alone = one_is_alone || (t->is_running() && t->alone());
    if (t->waits_for_workers()) waiting.emplace_back(t->rank(), t.get());
  }
  if (one_is_alone) return;
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const bool alone : {false, true})
    for (const auto& [rank, task] : waiting) {
      if (task->alone() != alone) continue;
      const bool room = alone ? is_quiet() : task->has_room();
      if (room) task->submit();
    }
}

}  // namespace redzone::campaign
