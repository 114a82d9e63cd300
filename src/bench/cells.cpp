#include "bench/cells.h"

#include "core/error.h"
#include "generators/plan_generator.h"
#include "oracles/checks.h"

namespace redzone::bench {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Verdict OneRun::judge(const Plan& plan, const TargetSpec&,
                      std::span<const Observation> observations) const {
  const Observation& o = observations[0];
  if (auto v = oracles::judge_fault(name(), plan, o)) return *v;
  if (auto v = oracles::cannot_judge(name(), o)) return *v;
  if (auto v = oracles::judge_canaries(name(), plan, o)) return *v;
  if (auto v = oracles::judge_reference(name(), plan, o)) return *v;
  return Verdict::pass(std::string(name()));
}

std::vector<Plan> small_plans(const TargetSpec& spec, std::size_t count) {
  auto budget = generators::host_budget();
  const auto cuda = generators::gpu_budget(std::int64_t{64} << 30);
  budget.sparse = false;
  budget.large_bytes = cuda.large_bytes;
  generators::PlanGenerator generator(spec, budget, 1);
  std::vector<Plan> plans;
  for (std::size_t i = 0; i < count; ++i) plans.push_back(generator.next());
  return plans;
}

ModeCell measure_cell(const Setup& setup, exec::Executor& executor, const TargetSpec& spec,
                      const std::vector<Plan>& plans, const Way& way,
                      std::chrono::milliseconds most) {
  ModeCell cell;
  const auto begun = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begun).count(); };
  for (Plan plan : plans) {
    if (Clock::now() - begun >= most || setup.stop()) break;
    plan.mode.launch = way.launch;
    plan.mode.allocator = way.allocator;
    plan.mode.schedule_seed = way.schedule_seed.value_or(plan.mode.schedule_seed);
    executor.submit({0, plan, way.oracle->expand(plan, spec), setup.triage.hang_deadline});
    const auto result = executor.next(std::chrono::hours(1));
    RZ_CHECK(result.has_value());
    const Verdict verdict = way.oracle->judge(plan, spec, result->observations);
    if (verdict.outcome == Outcome::harness_error || verdict.outcome == Outcome::inconclusive) {
      cell.why_not = verdict.reason;
      continue;
    }
    ++cell.ran;
    if (!verdict.failed()) continue;
    if (++cell.detected > 1) continue;
    cell.seconds_to_first = elapsed();
    cell.plans_to_first = cell.ran;
  }
  cell.seconds = elapsed();
  if (cell.ran > 0) cell.why_not.clear();
  return cell;
}

void warm_up(const Setup& setup, exec::Executor& executor, const TargetSpec& spec,
             const std::vector<Way>& ways) {
  for (const auto& way : ways)
    measure_cell(setup, executor, spec, small_plans(spec, 1), way, setup.effort.mode_cell);
}

}  // namespace redzone::bench
