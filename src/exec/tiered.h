// One executor over several: trials under a compute-sanitizer tool run in workers under that tool,
// which are started for the first such trial; all others run in native workers.
//
// A job with trials of both kinds is split, and its results are joined. If a tool is unavailable,
// its trials end as worker errors with the reason; they never run without the tool.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "exec/executor.h"

namespace redzone::exec {

struct TieredOptions {
  // Starts workers under the tool. Called once for each tool.
  std::function<Result<std::unique_ptr<Executor>>(SanitizerTool)> sanitized;
  // Factor for deadlines under a tool.
  int slowdown = 20;
  // Called by poll(); true ends unfinished fresh jobs as worker errors.
  std::function<bool()> interrupted = {};
};

// Under a tool one warm worker serves all jobs, including fresh ones, because a process takes
// seconds to start there. A target's C++ statics thus outlive a trial.
class TieredExecutor final : public Executor {
 public:
  // `native` must outlive this object.
  TieredExecutor(Executor& native, TieredOptions options);
  ~TieredExecutor() override;

  void submit(Job job) override;
  std::optional<JobResult> next(std::chrono::milliseconds timeout) override;
  std::size_t in_flight() const override { return submitted_ + done_.size(); }
  std::size_t max_in_flight() const override { return native_.max_in_flight(); }
  BatchId submit_fresh(std::span<const Job> jobs) override;
  bool fresh_done(BatchId batch) const override { return batches_.at(batch).open == 0; }
  std::vector<JobResult> take_fresh(BatchId batch) override;
  void cancel_fresh(BatchId batch, const std::string& why) override;
  bool fresh_room(const Job& job) const override { return native_.fresh_room(job); }
  void poll(std::chrono::milliseconds timeout) override;
  ExecutorStats stats() const override;

 private:
  using Ticket = std::uint64_t;
  // An unfinished job.
  struct Open {
    JobResult result;  // with the caller's id; observations are added when all have arrived
    std::vector<std::optional<Observation>> observations;        // in the order of the trials
    std::size_t parts = 0;                                       // unfinished parts
    std::map<const Executor*, std::vector<std::size_t>> trials;  // trial indices of each part
    std::optional<BatchId> batch;                                // absent: from submit()
  };
  struct Batch {
    std::vector<Ticket> tickets;    // of its jobs
    std::optional<BatchId> native;  // batch of the native executor, until its results are taken
    std::size_t open = 0;           // unfinished jobs
    std::map<Ticket, JobResult> results;
  };

  // Splits `job` and submits the parts that run under a tool. Returns the native part, if any.
  std::optional<Job> split(Job job, Ticket ticket, std::optional<BatchId> batch);
  // Null, with the reason in `why`, if the tool is unavailable.
  Executor* tier(SanitizerTool tool, std::string& why);
  void join(const Executor* from, JobResult part);
  void finish_if_complete(Ticket ticket);
  void take_native(Batch& batch);

  Executor& native_;
  TieredOptions options_;
  std::map<SanitizerTool, Result<std::unique_ptr<Executor>>> tiers_;
  std::map<Ticket, Open> open_;
  std::deque<JobResult> done_;
  std::map<BatchId, Batch> batches_;
  std::size_t submitted_ = 0;  // unfinished jobs
  Ticket last_ticket_ = 0;
  BatchId last_batch_ = 0;
};

}  // namespace redzone::exec
