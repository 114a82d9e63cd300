// An executor without processes and a sink without a file, for tests of the campaign.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "campaign/batched_executor.h"
#include "campaign/campaign.h"
#include "campaign/finding_sink.h"
#include "exec/executor.h"
#include "generators/simplify.h"
#include "oracles/observations.h"

namespace redzone::campaign::testing {

// The result of one trial in a worker. `before`: the calls that the worker ran earlier, oldest
// first.
using Bug = std::function<Observation(const Plan& plan, const TrialSpec& trial,
                                      const std::vector<Call>& before)>;

// A trial in which nothing fails.
inline Observation all_right(const Plan& plan, const TrialSpec& trial);

// The order of effects, shared by executor and sink: "submit", "fresh", "record", ...
using Journal = std::vector<std::string>;

// The calls of a trial in the order in which it makes them, repeats included, each with its index.
inline std::vector<std::pair<std::int32_t, Call>> calls_of_trial(const Plan& plan,
                                                                 const TrialSpec& trial) {
  std::vector<std::pair<std::int32_t, Call>> out;
  const auto calls = calls_of(plan);
  if (!trial.order.empty()) {
    for (auto i : trial.order) out.emplace_back(static_cast<std::int32_t>(i), calls[i]->call);
    return out;
  }
  for (std::size_t i = 0; i < calls.size(); ++i)
    for (std::int64_t r = 0; r < calls[i]->repeat; ++r)
      out.emplace_back(static_cast<std::int32_t>(i), calls[i]->call);
  return out;
}

// One warm worker that runs jobs in order and never exits, and a fresh one for each fresh job.
class FakeExecutor final : public BatchedExecutor {
 public:
  FakeExecutor(Bug bug, Journal* journal = nullptr) : bug_(std::move(bug)), journal_(journal) {}

  void submit(exec::Job job) override {
    note("submit");
    const bool compared = std::any_of(job.trials.begin(), job.trials.end(), [&](const auto& t) {
      return t.reference && t.left_out.size() < calls_of(job.plan).size();
    });
    if (compared) ++warm_compared_[job.plan.target];
    warm_deadlines_.push_back(deadline_of(job));
    exec::JobResult result{job.id, {}, log_, log_->size()};
    const bool behind_loss = std::any_of(done_.begin(), done_.end(), [&](const auto& earlier) {
      return lost_by_.contains(earlier.id);
    });
    if (job.back_at_loss && behind_loss && last_lost_ == job.plan.target) {
      ++came_back_;
      done_.push_back(std::move(result));
      return;
    }
    for (const auto& trial : job.trials) {
      result.observations.push_back(is_too_slow(job) ? hang()
                                                     : run_one(job.plan, trial, warm_calls_));
      for (auto& [index, call] : calls_of_trial(job.plan, trial)) warm_calls_.push_back(call);
      const End end = result.observations.back().end;
      const bool lost = end == End::fault || end == End::hang;
      if (lost) {
        ++warm_losses_;
        ++result.lost_workers;
        lost_by_.insert(job.id);
        last_lost_ = job.plan.target;
      }
      if (job.end_at_loss && lost) break;
    }
    log_->push_back({std::make_shared<const Plan>(std::move(job.plan)), std::move(job.trials)});
    done_.push_back(std::move(result));
    most_in_flight_ = std::max(most_in_flight_, done_.size());
  }
  std::size_t in_flight() const override { return done_.size(); }
  std::size_t max_in_flight() const override { return max_in_flight_; }

  exec::BatchId submit_fresh(std::span<const exec::Job> jobs) override {
    note("fresh");
    return BatchedExecutor::submit_fresh(jobs);
  }
  bool fresh_room(const exec::Job&) const override {
    std::size_t open = 0;
    for (const auto& [id, batch] : batches_) open += batch.jobs.size() - batch.results.size();
    return open < kFreshWorkers;
  }
  // Runs as many jobs as there are fresh workers, from the oldest unfinished batches.
  void poll(std::chrono::milliseconds) override {
    std::size_t idle = kFreshWorkers;
    for (auto& [id, batch] : batches_)
      for (together_ = batch.jobs.size(); idle > 0 && !batch.done(); --idle)
        run_fresh_job(batch.next(), batch.results);
  }
  exec::ExecutorStats stats() const override {
    return {.workers_started = 1,
            .workers_lost = lost_,
            .trials = trials_,
            .latest_start = latest_start_};
  }
  void set_latest_start(std::chrono::milliseconds took) { latest_start_ = took; }

  std::uint64_t trials() const { return trials_; }
  // By target: plans of the warm worker that are compared with the reference.
  const std::map<std::string, int>& warm_compared() const { return warm_compared_; }
  // Plans that the warm worker had at a time, at most.
  std::size_t most_in_flight() const { return most_in_flight_; }
  // Trials in the warm worker that would have cost it.
  std::uint64_t warm_losses() const { return warm_losses_; }
  // Jobs behind such a trial that came back without having been run (Job::back_at_loss).
  std::size_t came_back() const { return came_back_; }
  // Processes that ran nothing but jobs that did not allow a used worker; there is one of those.
  std::size_t fresh_processes() const { return fresh_processes_; }
  // Workers that had run nothing of the target, but maybe of others.
  std::size_t workers_of_others() const { return workers_of_others_; }
  // Trials in one of these processes or workers, at most.
  std::size_t most_in_chain() const { return most_in_chain_; }
  // The number of jobs in the current batch.
  std::size_t together() const { return together_; }
  // For each job: how long its calls may make no progress.
  const std::vector<std::chrono::milliseconds>& fresh_deadlines() const { return deadlines_; }
  const std::vector<std::chrono::milliseconds>& warm_deadlines() const { return warm_deadlines_; }
  // The calls of the target make no progress for so long.
  void set_slow(std::string target, std::chrono::milliseconds takes) {
    slow_ = std::move(target);
    slow_takes_ = takes;
  }
  void lose(std::uint64_t workers) { lost_ += workers; }
  void set_max_in_flight(std::size_t jobs) { max_in_flight_ = jobs; }
  // Nothing fails in a worker with one hardware queue.
  void hide_all_with_one_queue() { hidden_by_one_queue_ = true; }
  // For each fresh job: Job::one_queue.
  const std::vector<bool>& one_queue() const { return one_queue_; }

 private:
  static constexpr std::size_t kFreshWorkers = 2;
  void note(const char* what) {
    if (journal_ != nullptr) journal_->push_back(what);
  }
  void run_fresh_job(const exec::Job& job, std::vector<exec::JobResult>& results) {
    exec::JobResult result{job.id, {}, std::make_shared<const exec::WorkerLog>(), 0};
    if (!job.behind) chain_calls_.clear();
    const bool used = job.reuse == exec::Reuse::any;
    std::vector<Call>& before = used ? used_calls_ : chain_calls_;
    if (job.reuse == exec::Reuse::none && !job.behind) ++fresh_processes_;
    if (job.reuse == exec::Reuse::of_other_targets && !job.behind) ++workers_of_others_;
    if (!used) {
      trials_in_chain_ = (job.behind ? trials_in_chain_ : 0) + job.trials.size();
      most_in_chain_ = std::max(most_in_chain_, trials_in_chain_);
    }
    const bool hidden = job.one_queue && hidden_by_one_queue_;
    for (const auto& trial : job.trials) {
      result.observations.push_back(hidden             ? all_right(job.plan, trial)
                                    : is_too_slow(job) ? hang()
                                                       : run_one(job.plan, trial, before));
      for (auto& [index, call] : calls_of_trial(job.plan, trial)) before.push_back(call);
      const End end = result.observations.back().end;
      if (end == End::fault || end == End::hang || end == End::exited) ++result.lost_workers;
    }
    deadlines_.push_back(deadline_of(job));
    one_queue_.push_back(job.one_queue);
    results.push_back(std::move(result));
  }
  static std::chrono::milliseconds deadline_of(const exec::Job& job) {
    return std::min(job.deadline, job.call_deadline);
  }
  bool is_too_slow(const exec::Job& job) const {
    return job.plan.target == slow_ && deadline_of(job) < slow_takes_;
  }
  static Observation hang() {
    Observation o = redzone::testing::ended(End::hang);
    o.fault.emplace();
    o.fault->code = "hang";
    return o;
  }
  Observation run_one(const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    ++trials_;
    return bug_(plan, trial, before);
  }

  Bug bug_;
  Journal* journal_;
  std::size_t max_in_flight_ = 2;
  std::size_t most_in_flight_ = 0;
  std::size_t together_ = 0;
  std::shared_ptr<exec::WorkerLog> log_ = std::make_shared<exec::WorkerLog>();
  std::vector<Call> warm_calls_, used_calls_, chain_calls_;
  std::size_t fresh_processes_ = 0, workers_of_others_ = 0;
  std::size_t trials_in_chain_ = 0, most_in_chain_ = 0;
  std::vector<std::chrono::milliseconds> deadlines_, warm_deadlines_;
  std::string slow_;  // see set_slow()
  std::chrono::milliseconds slow_takes_{0};
  std::vector<bool> one_queue_;
  bool hidden_by_one_queue_ = false;
  std::chrono::milliseconds latest_start_{0};
  std::uint64_t trials_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t warm_losses_ = 0;
  std::set<std::uint64_t> lost_by_;  // ids of the jobs whose trials would have cost the warm worker
  std::string last_lost_;            // the target of the last of them
  std::size_t came_back_ = 0;
  std::map<std::string, int> warm_compared_;
};

// Keeps everything that is recorded; one finding for each signature, as in the store.
class RecordingSink final : public FindingSink {
 public:
  explicit RecordingSink(Journal* journal = nullptr) : journal_(journal) {}

  Result<Recorded> record(const Finding& finding) override {
    note("record");
    if (fail_with_) return tl::unexpected(*fail_with_);
    for (auto& [id, known] : findings)
      if (known.signature == finding.signature) {
        ++known.occurrences;
        return Recorded{id, false};
      }
    const auto id = ++last_id_;
    findings[id] = finding;
    findings[id].id = id;
    return Recorded{id, true};
  }
  Result<Recorded> update(const Finding& finding) override {
    note("update");
    updates.push_back(finding);
    for (auto& [id, known] : findings)
      if (id != finding.id && known.signature == finding.signature) {
        known.occurrences += findings.at(finding.id).occurrences;
        findings.erase(finding.id);
        return Recorded{id, false};
      }
    const auto occurrences = findings.at(finding.id).occurrences;
    findings[finding.id] = finding;
    findings[finding.id].occurrences = occurrences;
    return Recorded{finding.id, older.count(finding.id) == 0};
  }
  Result<void> sighted(std::int64_t id, std::int64_t plans) override {
    note("sighted");
    findings.at(id).occurrences += plans;
    return {};
  }
  bool settled(const Signature& signature) override {
    for (const auto& known : settled_signatures)
      if (known == signature) return true;
    return false;
  }
  Result<void> evidence(std::int64_t, std::string_view purpose, const Plan&,
                        const Answer&) override {
    note("evidence " + std::string(purpose));
    return {};
  }

  void fail_from_now_on(Error error) { fail_with_ = std::move(error); }

  std::map<std::int64_t, Finding> findings;
  std::vector<Finding> updates;
  std::vector<Signature> settled_signatures;
  std::set<std::int64_t> older;  // ids of findings of earlier campaigns

 private:
  void note(std::string what) {
    if (journal_ != nullptr) journal_->push_back(std::move(what));
  }
  Journal* journal_;
  std::optional<Error> fail_with_;
  std::int64_t last_id_ = 0;  // an id whose finding was merged is not given again
};

// One size, a few compiled variants, one knob.
inline TargetSpec small_spec() {
  TargetSpec spec;
  spec.name = "t";
  spec.dims = {{.name = "N", .min = 1, .max = 1024, .tile = 64},
               {.name = "C", .values = {16, 32, 64}}};
  spec.tensors = {{.name = "x", .shape = shape_of({"N"}), .layouts = LayoutRules::strided()},
                  {.name = "y", .role = Role::out, .shape = shape_of({"N"})}};
  spec.knobs = {{.name = "num_warps", .values = {4, 8}}};
  return spec;
}

inline Call call_of(std::int64_t n, std::int64_t c) {
  Call call;
  call.dims = {{"N", n}, {"C", c}};
  call.config = {{"num_warps", std::int64_t{4}}};
  return call;
}

// The calls in order, in the plainest mode: what a reduction returns.
inline Plan plain_plan(const std::vector<Call>& calls) {
  Plan plan;
  plan.target = "t";
  plan.mode.launch = Launch::blocking;
  for (const auto& call : calls) plan.steps.emplace_back(CallStep{call, 1, 0});
  return plan;
}

// The same calls with the details that a generator would add.
inline Plan busy_plan(const std::vector<Call>& calls) {
  Plan plan = plain_plan(calls);
  plan.mode.launch = Launch::gated;
  plan.mode.poison = 0x3f3f3f3fu;
  plan.mode.schedule_seed = 77;
  plan.steps.clear();
  std::uint64_t seed = 100;
  for (const auto& call : calls) {
    CallStep step{call, 2, 0};
    step.call.seed = ++seed;
    step.call.config["num_warps"] = std::int64_t{8};
    step.call.layouts["x"].row_padding_elems = 3;
    plan.steps.emplace_back(step);
    plan.steps.emplace_back(SyncStep{});
  }
  return plan;
}

inline SimplifyFor real_simplify() {
  return [](const TargetSpec& spec) -> Simplify {
    return {[&spec](const Plan& plan) -> PlanStream {
              auto candidates =
                  std::make_shared<generators::Simplifications>(generators::simplify(plan, spec));
              return [candidates] { return candidates->next(); };
            },
            [&spec](const Plan& a, const Plan& b) { return generators::simpler(a, b, spec); }};
  };
}

// The output digest of a call; `before`: all calls that the worker ran earlier, in order.
using Digest = std::function<std::uint64_t(const Call& call, const std::vector<Call>& before)>;

inline std::uint64_t right_digest(const Call& call) {
  return static_cast<std::uint64_t>(get(call.dims, "N")) * 1000 +
         static_cast<std::uint64_t>(get(call.dims, "C")) * 10 + call.seed * 1000003;
}

inline Observation outputs(const Plan& plan, const TrialSpec& trial, std::vector<Call> before,
                           const Digest& digest) {
  std::vector<std::uint64_t> digests(calls_of(plan).size());
  for (const auto& [index, call] : calls_of_trial(plan, trial)) {
    digests[static_cast<std::size_t>(index)] = digest(call, before);
    before.push_back(call);
  }
  Observation o = redzone::testing::completed(std::move(digests));
  for (auto& call : o.calls)
    for (auto& buffer : call.buffers) buffer.surrounded = trial.mode.allocator == Allocator::guard;
  return o;
}

inline Observation all_right(const Plan& plan, const TrialSpec& trial) {
  return outputs(plan, trial, {},
                 [](const Call& call, const std::vector<Call>&) { return right_digest(call); });
}

inline Fault fault_at(std::int32_t call, std::string buffer, Access access, Side side) {
  Fault f;
  f.code = "SIGSEGV";
  f.call = call;
  f.kernel = "k";
  f.buffer = std::move(buffer);
  f.access = access;
  f.side = side;
  f.distance_bytes = 4;
  return f;
}

// Reads past the end of `x` in the first call with N above `limit`.
inline Bug faults_above(std::int64_t limit) {
  return [limit](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    for (const auto& [index, call] : calls_of_trial(plan, trial))
      if (get(call.dims, "N") > limit)
        return redzone::testing::faulted(fault_at(index, "x", Access::read, Side::after));
    return all_right(plan, trial);
  };
}

// The first call decides how large a buffer is, which later calls write as well: a longer one
// beyond it, into the slack behind it or, from the next multiple of 16 elements on, into the guard
// page.
inline Bug sized_by_the_first_call() {
  return [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    constexpr std::int64_t kSlack = 16;
    std::int64_t room = 0;
    Observation o = all_right(plan, trial);
    for (const auto& [index, call] : calls_of_trial(plan, trial)) {
      const std::int64_t n = get(call.dims, "N");
      if (room == 0) room = n;
      const bool guarded = trial.mode.allocator == Allocator::guard;
      if (guarded && n > (room + kSlack - 1) / kSlack * kSlack)
        return redzone::testing::faulted(fault_at(index, "y", Access::write, Side::after));
      if (n <= room) continue;
      for (auto& b : o.calls[static_cast<std::size_t>(index)].buffers)
        if (b.name == "y" && b.surrounded) b.dirty_after = 4;
    }
    return o;
  };
}

// Writes one element past `y`: into a canary, or, with `reaches_guard_page`, into the guard page
// where `y` ends at it.
inline Bug writes_past_the_end(bool reaches_guard_page) {
  return [reaches_guard_page](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    const bool at_its_end =
        trial.mode.allocator == Allocator::guard && trial.mode.placement == Placement::guard_after;
    for (const auto& [index, call] : calls_of_trial(plan, trial))
      if (reaches_guard_page && at_its_end && get(call.dims, "N") % 4 == 0)
        return redzone::testing::faulted(fault_at(index, "y", Access::write, Side::after));
    Observation o = all_right(plan, trial);
    for (auto& call : o.calls)
      for (auto& b : call.buffers)
        if (b.name == "y" && b.surrounded) b.dirty_after = 4;
    return o;
  };
}

}  // namespace redzone::campaign::testing
