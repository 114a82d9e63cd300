#include "bench/mode_table.h"

#include <fmt/format.h>

#include "exec/tiered.h"
#include "generators/plan_generator.h"
#include "oracles/checks.h"

namespace redzone::bench {
namespace {

using Clock = std::chrono::steady_clock;

// What a careful test of one run sees: a fault, a dirty canary, a wrong number.
class OneRun final : public Oracle {
 public:
  std::string_view name() const override { return "one-run"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec&) const override {
    return {{plan.mode, {}, true}};
  }
  Verdict judge(const Plan& plan, const TargetSpec&,
                std::span<const Observation> observations) const override {
    const Observation& o = observations[0];
    if (auto v = oracles::judge_fault(name(), plan, o)) return *v;
    if (auto v = oracles::cannot_judge(name(), o)) return *v;
    if (auto v = oracles::judge_canaries(name(), plan, o)) return *v;
    if (auto v = oracles::judge_reference(name(), plan, o)) return *v;
    return Verdict::pass(std::string(name()));
  }
};

// A tool makes trials slower, but these plans are small, and few of them hang.
constexpr int kToolSlowdown = 4;

struct Way {
  ModeColumn column;
  const Oracle* oracle = nullptr;
  Launch launch = Launch::async;
  Allocator allocator = Allocator::guard;
};

std::vector<Way> ways(const Setup& setup, const Oracle* one) {
  using enum Launch;
  using enum Allocator;
  const Oracle* memcheck = &setup.catalog.sanitizer(SanitizerTool::memcheck);
  const Oracle* racecheck = &setup.catalog.sanitizer(SanitizerTool::racecheck);
  return {
      {{"async", "one async trial over the guard arena, compared with the reference"}, one, async},
      {{"blocking", "the same, synchronized after each launch"}, one, blocking},
      {{"gated", "the same, held until all is enqueued"}, one, gated},
      {{"screen", "the two trials of the screen"}, &setup.catalog.screen(), gated},
      {{"memcheck", "records of memcheck over the guard arena, async"}, memcheck, async},
      {{"memcheck-caching", "records of memcheck over a caching allocator, async"},
       memcheck,
       async,
       caching},
      {{"racecheck", "records of racecheck, async"}, racecheck, async},
  };
}

// Small, so that the slowest tool ends: the same limits as on the host device, but for the memory
// that far offsets take.
std::vector<Plan> small_plans(const TargetSpec& spec, std::size_t count) {
  auto budget = generators::host_budget();
  const auto cuda = generators::cuda_budget(std::int64_t{64} << 30);
  budget.sparse = false;
  budget.large_bytes = cuda.large_bytes;
  generators::PlanGenerator generator(spec, budget, 1);
  std::vector<Plan> plans;
  for (std::size_t i = 0; i < count; ++i) plans.push_back(generator.next());
  return plans;
}

ModeCell measure_cell(const Setup& setup, exec::Executor& executor, const TargetSpec& spec,
                      const std::vector<Plan>& plans, const Way& way) {
  ModeCell cell;
  const auto begun = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begun).count(); };
  for (Plan plan : plans) {
    if (Clock::now() - begun >= setup.effort.mode_cell || setup.stop()) break;
    plan.mode.launch = way.launch;
    plan.mode.allocator = way.allocator;
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
    if (++cell.detected == 1) cell.seconds_to_first = elapsed();
  }
  cell.seconds = elapsed();
  if (cell.ran > 0) cell.why_not.clear();
  return cell;
}

}  // namespace

// A tool takes seconds to come up, which is not the price of a puzzle.
void warm_up(const Setup& setup, exec::Executor& executor, const std::vector<Way>& all) {
  const auto puzzles = puzzles_to_find(setup);
  if (puzzles.empty()) return;
  const TargetSpec& spec = puzzles.front()->spec;
  for (const auto& way : all) measure_cell(setup, executor, spec, small_plans(spec, 1), way);
}

Result<void> measure_modes(const Setup& setup, Report& report) {
  const OneRun one_run;
  const auto all = ways(setup, &one_run);
  for (const auto& way : all) report.modes.columns.push_back(way.column);
  report.modes.plans = setup.effort.mode_trials;
  exec::Pool pool(setup.pool);
  if (auto up = pool.wait_ready(std::chrono::seconds(60)); !up) return tl::unexpected(up.error());
  exec::TieredExecutor executor(
      pool, {.sanitized = setup.sanitized, .slowdown = kToolSlowdown, .interrupted = setup.stop});
  warm_up(setup, executor, all);
  for (const auto* puzzle : puzzles_to_find(setup)) {
    if (setup.stop()) break;
    setup.say(fmt::format("modes, {}", puzzle->spec.name));
    const auto plans = small_plans(puzzle->spec, setup.effort.mode_trials);
    ModeRow row{puzzle->spec.name, {}};
    for (const auto& way : all)
      row.cells.push_back(measure_cell(setup, executor, puzzle->spec, plans, way));
    report.modes.rows.push_back(std::move(row));
  }
  return {};
}

}  // namespace redzone::bench
