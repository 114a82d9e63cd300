#include "bench/pooled_loop.h"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "campaign/reference_budget.h"
#include "core/device_traits.h"

namespace redzone::bench {
namespace {

using Clock = std::chrono::steady_clock;

exec::PoolOptions without_recycling(exec::PoolOptions options) {
  options.recycle_after_plans = std::numeric_limits<std::size_t>::max();
  options.spares = 0;  // another process would only wait
  return options;
}

}  // namespace

PooledLoop::PooledLoop(exec::PoolOptions options, const Workload& workload, DeviceKind device,
                       const Registry& registry, const Oracle& screen,
                       std::chrono::milliseconds deadline)
    : screen_(screen),
      deadline_(deadline),
      workers_(options.workers),
      pool_(without_recycling(std::move(options))) {
  for (const auto& plan : workload.plans) {
    const TargetEntry* entry = registry.find(plan.target, device);
    RZ_CHECK(entry != nullptr);
    auto trials = screen.expand(plan, entry->spec);
    if (!traits_of(device).execution.on_host_cores)
      campaign::leave_out_large_calls(plan, entry->spec, trials);
    items_.push_back({&plan, &entry->spec, std::move(trials)});
  }
}

void PooledLoop::submit(std::size_t index) {
  const Item& item = items_[index];
  exec::Job job{index, with_other_data(*item.plan, submitted_++), item.trials, deadline_};
  if (!reference_)
    for (auto& trial : job.trials) trial.reference = false;
  pool_.submit(std::move(job));
}

Result<exec::JobResult> PooledLoop::take(Tally& tally) {
  // Wait long, because a hanging trial ends at its own deadline.
  auto result = pool_.next(std::chrono::hours(1));
  RZ_CHECK(result.has_value());
  const Item& item = items_[result->id];
  const Verdict verdict = screen_.judge(*item.plan, *item.spec, result->observations);
  if (verdict.outcome != Outcome::pass)
    return harness_error(fmt::format("a plan of {} did not pass the screen: {}: {}",
                                     item.plan->target, name_of(verdict.outcome), verdict.reason));
  ++tally.plans;
  tally.comparable += static_cast<std::uint64_t>(verdict.reference.calls);
  tally.compared += static_cast<std::uint64_t>(verdict.reference.compared);
  tally.sampled += static_cast<std::uint64_t>(verdict.reference.sampled);
  for (std::size_t t = 0; t < item.trials.size(); ++t) {
    ++tally.trials;
    tally.calls += calls_in(*item.plan, item.trials[t]);
    tally.mapping_calls += result->observations[t].mapping_calls;
  }
  return std::move(*result);
}

Result<void> PooledLoop::warm_up(std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kPasses{1000};
  const auto until = Clock::now() + limit;
  RZ_TRY(pool_.wait_ready(limit));
  for (;;) {
    Tally tally;
    bool all = true;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      // Submit as many jobs as there are workers, with none in flight, so that each worker gets
      // one.
      for (std::size_t w = 0; w < workers_; ++w) submit(i);
      std::set<const exec::WorkerLog*> took_part;
      while (pool_.in_flight() > 0) {
        RZ_TRY_ASSIGN(auto result, take(tally));
        took_part.insert(result.log.get());
      }
      all = all && took_part.size() == workers_;
    }
    // Then run in the orders of a measurement, because these determine which cached region a buffer
    // gets.
    if (all && tally.mapping_calls == 0) {
      RZ_TRY_ASSIGN(const Tally measured, run(kPasses));
      if (measured.mapping_calls == 0) return {};
    }
    if (Clock::now() < until) continue;
    if (all) return {};  // the report will show the mapping calls
    return harness_error(fmt::format("not all of {} workers came up", workers_));
  }
}

Result<Tally> PooledLoop::run(std::chrono::milliseconds time, bool cut) {
  Tally tally;
  const auto begun = Clock::now();
  for (std::size_t next = 0;;) {
    const bool late = Clock::now() - begun >= time;
    const bool whole = next > 0 && next % items_.size() == 0;
    const bool enough = late && (cut || whole);
    if (!enough && pool_.in_flight() < pool_.max_in_flight()) {
      submit(next++ % items_.size());
      continue;
    }
    if (pool_.in_flight() == 0) break;
    RZ_TRY(take(tally));
  }
  tally.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  return tally;
}

}  // namespace redzone::bench
