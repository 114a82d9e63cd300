// The part of an executor without processes that only keeps books: results that wait to be taken,
// and batches of fresh jobs. What runs a job, and when, is up to the class above it.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/executor.h"

namespace redzone::campaign::testing {

class BatchedExecutor : public exec::Executor {
 public:
  std::optional<exec::JobResult> next(std::chrono::milliseconds) override {
    if (done_.empty()) return std::nullopt;
    auto result = std::move(done_.front());
    done_.pop_front();
    return result;
  }

  exec::BatchId submit_fresh(std::span<const exec::Job> jobs) override {
    batches_[++last_batch_].jobs.assign(jobs.begin(), jobs.end());
    return last_batch_;
  }
  bool fresh_done(exec::BatchId batch) const override { return batches_.at(batch).done(); }
  std::vector<exec::JobResult> take_fresh(exec::BatchId batch) override {
    return std::move(batches_.extract(batch).mapped().results);
  }
  void cancel_fresh(exec::BatchId id, const std::string& why) override {
    Batch& batch = batches_.at(id);
    while (!batch.done()) {
      const exec::Job& job = batch.next();
      Observation cancelled;
      cancelled.message = why;
      batch.results.push_back({job.id, std::vector<Observation>(job.trials.size(), cancelled),
                               std::make_shared<const exec::WorkerLog>(), 0});
    }
  }

 protected:
  struct Batch {
    std::vector<exec::Job> jobs;
    std::vector<exec::JobResult> results;
    bool done() const { return results.size() == jobs.size(); }
    const exec::Job& next() const { return jobs[results.size()]; }
  };

  std::deque<exec::JobResult> done_;  // of submit()
  std::map<exec::BatchId, Batch> batches_;

 private:
  exec::BatchId last_batch_ = 0;
};

}  // namespace redzone::campaign::testing
