// One executor over several: trials that ask for a tool of compute-sanitizer run in workers under
// that tool, which are started when the first of them comes; all others run in native workers.
//
// A job of both kinds is taken apart and put together again. Where the tool cannot be had, its
// trials end as worker errors with the reason: nothing runs without the tool that asked for it.
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
  // Starts workers under that tool. Asked once for each tool.
  std::function<Result<std::unique_ptr<Executor>>(SanitizerTool)> sanitized;
  // Deadlines under a tool are so many times the native ones.
  int slowdown = 20;
  // Asked by poll(); true ends what is fresh and not done with worker errors.
  std::function<bool()> interrupted = {};
};

// Under a tool one warm worker serves all jobs, the fresh ones too: a process takes seconds
// to come up there. A target's C++ statics thus outlive a trial.
class TieredExecutor final : public Executor {
 public:
  // `native` outlives this.
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
  bool fresh_room(bool reuse) const override { return native_.fresh_room(reuse); }
  void poll(std::chrono::milliseconds timeout) override;
  ExecutorStats stats() const override;

 private:
  using Ticket = std::uint64_t;
  // A job that is not finished.
  struct Open {
    JobResult result;  // with the caller's id; its observations are put in when all are there
    std::vector<std::optional<Observation>> observations;        // where their trials were
    std::size_t parts = 0;                                       // that are still to come
    std::map<const Executor*, std::vector<std::size_t>> trials;  // of each part
    std::optional<BatchId> batch;                                // absent: submitted
  };
  struct Batch {
    std::vector<Ticket> tickets;    // of its jobs
    std::optional<BatchId> native;  // of the native executor; until its results were taken
    std::size_t open = 0;           // jobs that are not finished
    std::map<Ticket, JobResult> results;
  };

  // Takes `job` apart and submits the parts that run under a tool; the native part comes back, if
  // there is one.
  std::optional<Job> split(Job job, Ticket ticket, std::optional<BatchId> batch);
  // Null, with the reason in `why`, where the tool cannot be had.
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
  std::size_t submitted_ = 0;  // jobs that are not finished
  Ticket last_ticket_ = 0;
  BatchId last_batch_ = 0;
};

}  // namespace redzone::exec
