#include "bench/fault_cost.h"

#include <fmt/format.h>

#include "bench/workload.h"

namespace redzone::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostPlansTried = 64;  // per puzzle

double ms_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

double ms_since(Clock::time_point begin) {
  return ms_between(begin, Clock::now());
}

// A pool with one worker and a given number of spares.
class Bench {
 public:
  Bench(const Setup& setup, std::size_t spares)
      : deadline_(setup.deadline), pool_([&] {
          exec::PoolOptions options = setup.pool;
          options.workers = 1;
          options.spares = spares;
          return options;
        }()) {}

  Result<exec::Hello> wait_ready() { return pool_.wait_ready(std::chrono::seconds(60)); }
  Observation run(const Plan& plan) {
    submit(plan);
    return take();
  }
  void submit(const Plan& plan) { pool_.submit({0, plan, {TrialSpec{plan.mode}}, deadline_}); }
  Observation take() {
    auto result = pool_.next(std::chrono::hours(1));
    RZ_CHECK(result.has_value());
    return std::move(result->observations.front());
  }
  double waited_ms() const { return static_cast<double>(pool_.stats().fault_wait_us) / 1000; }

 private:
  std::chrono::milliseconds deadline_;
  exec::Pool pool_;
};

// A plan whose fault does not depend on earlier runs: it faults in two workers, one of them new.
std::optional<Plan> faulting_plan(const Setup& setup) {
  Bench bench(setup, 1);
  if (!bench.wait_ready()) return std::nullopt;
  for (const auto& entry : setup.registry.entries()) {
    if (entry.device != setup.device || entry.spec.category != Category::puzzle) continue;
    const auto plans = setup.plans(entry.spec, setup.effort.seeds.front());
    for (std::size_t i = 0; i < kMostPlansTried && !setup.stop(); ++i) {
      Plan plan = plans->next();
      plan.mode.launch = Launch::blocking;
      const auto end = bench.run(plan).end;
      if (end == End::hang) break;  // each hang would cost a deadline
      if (end == End::fault && bench.run(plan).end == End::fault) return plan;
    }
  }
  return std::nullopt;
}

// `pause_ms`: time for which harmless plans run before each fault.
FaultSamples take_samples(const Setup& setup, const Plan& faulting, const Plan& harmless,
                          std::size_t spares, double pause_ms) {
  FaultSamples samples;
  Bench bench(setup, spares);
  if (!bench.wait_ready()) return samples;
  for (std::size_t i = 0; i < setup.effort.faults && !setup.stop(); ++i) {
    const auto paused = Clock::now();
    do bench.run(harmless);
    while (ms_since(paused) < pause_ms);
    const double waited = bench.waited_ms();
    const auto begun = Clock::now();
    bench.submit(faulting);
    bench.submit(harmless);  // must wait for the next worker
    const Observation o = bench.take();
    const auto lost = Clock::now();
    bench.take();
    if (o.end != End::fault) continue;
    samples.trial_ms.push_back(ms_between(begun, lost));
    samples.wait_ms.push_back(bench.waited_ms() - waited);
    samples.next_ms.push_back(ms_since(lost));
  }
  return samples;
}

}  // namespace

FaultCost measure_fault_cost(const Setup& setup, std::optional<Plan> harmless) {
  setup.say("cost of a fault");
  FaultCost out;
  if (!harmless) {
    const auto workload = make_workload("tiny", setup.device, setup.registry, true);
    if (!workload) {
      out.why_not = workload.error().message;
      return out;
    }
    harmless = workload->plans.front();
  }
  const auto faulting = faulting_plan(setup);
  if (!faulting) {
    out.why_not = "no puzzle was seen to fault";
    return out;
  }
  out.puzzle = faulting->target;
  out.without_spare = take_samples(setup, *faulting, *harmless, 0, 0);
  // Long enough for a spare to start.
  const double pause_ms = 3 * median(out.without_spare.wait_ms);
  out.with_spare = take_samples(setup, *faulting, *harmless, 1, pause_ms);
  if (out.with_spare.wait_ms.empty() || out.without_spare.wait_ms.empty())
    out.why_not = "the plan that faulted does not any more";
  return out;
}

}  // namespace redzone::bench
