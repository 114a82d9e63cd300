// An executor without processes that takes as long as a GPU does (bench/results/
// nvidia-h100-80gb-hbm3-minute.txt), by a clock of its own: workers start one after another, and a
// fault ends its worker and holds the device. One fresh job runs at a time, beside the screen.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "campaign/fakes.h"

namespace redzone::campaign::testing {

class SimulatedGpu final : public BatchedExecutor {
 public:
  using Clock = std::chrono::steady_clock;

  SimulatedGpu(Bug bug, Clock::time_point& now) : bug_(std::move(bug)), now_(now) {}

  void submit(exec::Job job) override { warm_.push_back(std::move(job)); }
  std::size_t in_flight() const override { return warm_.size() + done_.size(); }
  std::size_t max_in_flight() const override { return 2; }

  bool fresh_room(const exec::Job& wanted) const override {
    return std::none_of(batches_.begin(), batches_.end(), [&](const auto& entry) {
      const Batch& batch = entry.second;
      if (batch.done()) return false;
      const exec::Job& job = batch.next();
      return job.reuse == wanted.reuse && job.will_lose == wanted.will_lose;
    });
  }
  // A plan of the screen and a fresh job, if there is a worker for one.
  void poll(std::chrono::milliseconds timeout) override {
    const auto begun = now_;
    start_workers();
    if (!warm_.empty()) screen();
    for (auto& [id, batch] : batches_)
      if (!batch.done() && run_next(batch)) break;
    if (now_ == begun) now_ += std::min<std::chrono::milliseconds>(timeout, kIdle);
  }
  exec::ExecutorStats stats() const override { return {started_, lost_, 0, 0}; }

 private:
  static constexpr std::chrono::milliseconds kStart{250}, kFault{140}, kIdle{10};
  // Of the first trial of a worker: its memory is mapped while others start.
  static constexpr std::chrono::milliseconds kFirst{60};
  static constexpr std::chrono::microseconds kTrial{500};
  static constexpr std::size_t kSpares = 8, kKept = 6, kKeptToLose = 2;

  void start_workers() {
    if (spares_ >= kSpares) next_start_ = std::max(next_start_, now_);
    for (; spares_ < kSpares && now_ >= next_start_ + kStart; next_start_ += kStart) {
      ++spares_;
      ++started_;
    }
  }
  void screen() {
    exec::Job job = std::move(warm_.front());
    warm_.pop_front();
    exec::JobResult result = run(job);
    // The next one needs a worker, too.
    if (result.lost_workers > 0 && spares_ > 0) --spares_;
    done_.push_back(std::move(result));
  }
  // The targets that a worker has run.
  using Known = std::set<std::string>;

  bool run_next(Batch& batch) {
    const exec::Job& job = batch.next();
    std::vector<Known>& kept = job.will_lose ? kept_to_lose_ : kept_;
    if (!job.behind && !take_worker(job, kept)) return false;
    worker_.insert(job.plan.target);
    batch.results.push_back(run(job));
    batch.results.back().log_size = used_ || job.behind ? 1 : 0;
    const bool last = batch.done() || !batch.next().behind;
    const std::size_t most = job.will_lose ? kKeptToLose : kKept;
    if (last && batch.results.back().lost_workers == 0 && kept.size() < most)
      kept.push_back(worker_);
    return true;
  }
  // False if there is none.
  bool take_worker(const exec::Job& job, std::vector<Known>& kept) {
    const auto knows_target = [&](const Known& w) { return w.contains(job.plan.target); };
    auto used = kept.end();
    if (job.reuse != exec::Reuse::none) {
      used = job.reuse == exec::Reuse::any
                 ? std::find_if(kept.begin(), kept.end(), knows_target)
                 : std::find_if_not(kept.begin(), kept.end(), knows_target);
      if (job.reuse == exec::Reuse::any && used == kept.end()) used = kept.begin();
    }
    used_ = used != kept.end();
    if (used_) {
      worker_ = std::move(*used);
      kept.erase(used);
      return true;
    }
    if (spares_ == 0) return false;
    --spares_;
    now_ += kFirst;
    worker_ = {};
    return true;
  }
  exec::JobResult run(const exec::Job& job) {
    exec::JobResult result{job.id, {}, std::make_shared<const exec::WorkerLog>(), 0};
    for (const auto& trial : job.trials) {
      Observation o = bug_(job.plan, trial, {});
      const bool lost = o.end == End::fault;
      const std::chrono::microseconds took = lost ? kTrial + kFault : kTrial;
      now_ += took;
      o.wall_us = took.count();
      result.observations.push_back(std::move(o));
      if (!lost) continue;
      ++result.lost_workers;
      ++lost_;
      if (job.end_at_loss) break;
    }
    return result;
  }

  Bug bug_;
  Clock::time_point& now_;
  std::deque<exec::Job> warm_;
  std::size_t spares_ = 2;
  std::vector<Known> kept_, kept_to_lose_;
  Known worker_;       // of the fresh job that runs or ran last
  bool used_ = false;  // it had run others
  Clock::time_point next_start_{};
  std::uint64_t started_ = 0, lost_ = 0;
};

}  // namespace redzone::campaign::testing
