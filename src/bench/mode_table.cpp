#include "bench/mode_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "bench/cells.h"
#include "core/contention.h"
#include "core/device_traits.h"
#include "exec/tiered.h"

namespace redzone::bench {
namespace {

// Adds a column beside that of the screen, with other work that keeps the device busy. All other
// columns run all plans without such work.
void add_contended(std::vector<Way>& all) {
  for (auto& way : all) way.schedule_seed = kIdleSeed;
  const auto screen = std::ranges::find(all, kScreen, [](const Way& w) { return w.column.name; });
  Way busy = *screen;
  busy.column = {"screen-busy", "the same, beside other work that keeps the device busy"};
  busy.schedule_seed = kContendedSeed;
  all.insert(std::next(screen), std::move(busy));
}

std::vector<Way> ways(const Setup& setup, const Oracle* one) {
  using enum Launch;
  using enum Allocator;
  const Oracle* memcheck = &setup.catalog.sanitizer(SanitizerTool::memcheck);
  const Oracle* racecheck = &setup.catalog.sanitizer(SanitizerTool::racecheck);
  std::vector<Way> all = {
      {{"async", "one async trial over the guard arena, compared with the reference"}, one, async},
      {{"blocking", "the same, synchronized after each launch"}, one, blocking},
      {{"gated", "the same, held until all is enqueued"}, one, gated},
      {{std::string(kScreen), "the two trials of the screen"}, &setup.catalog.screen(), gated},
      {{"memcheck", "records of memcheck over the guard arena, async"}, memcheck, async},
      {{"memcheck-caching", "records of memcheck over a caching allocator, async"},
       memcheck,
       async,
       caching},
      {{"racecheck", "records of racecheck, async"}, racecheck, async},
  };
  if (traits_of(setup.device).execution.seed_decides == SeedDecides::contention) add_contended(all);
  return all;
}

}  // namespace

Result<void> measure_modes(const Setup& setup, Report& report) {
  const OneRun one_run;
  const auto all = ways(setup, &one_run);
  for (const auto& way : all) report.modes.columns.push_back(way.column);
  report.modes.plans = setup.effort.mode_trials;
  exec::Pool pool(setup.pool);
  RZ_TRY(pool.wait_ready(std::chrono::seconds(60)));
  exec::TieredExecutor executor(
      pool, {.sanitized = setup.sanitized, .slowdown = kToolSlowdown, .interrupted = setup.stop});
  if (const auto puzzles = puzzles_to_find(setup); !puzzles.empty())
    warm_up(setup, executor, puzzles.front()->spec, all);
  for (const auto* puzzle : puzzles_to_find(setup)) {
    if (setup.stop()) break;
    setup.say(fmt::format("modes, {}", puzzle->spec.name));
    const auto plans = small_plans(puzzle->spec, setup.effort.mode_trials);
    ModeRow row{puzzle->spec.name, {}};
    for (const auto& way : all)
      row.cells.push_back(
          measure_cell(setup, executor, puzzle->spec, plans, way, setup.effort.mode_cell));
    if (setup.stop()) break;  // a partial row is not comparable
    report.modes.rows.push_back(std::move(row));
  }
  return {};
}

}  // namespace redzone::bench
