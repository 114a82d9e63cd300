#include "bench/throughput.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "bench/bare_loop.h"
#include "bench/pooled_loop.h"

namespace redzone::bench {
namespace {

using std::chrono::milliseconds;

// Includes the compilation of kernels that no earlier run has left on disk.
constexpr milliseconds kWarmUp = std::chrono::seconds(180);
constexpr milliseconds kBareDeadline = std::chrono::seconds(120);
// A trial under memcheck takes about 50 times as long.
constexpr milliseconds kMemcheckDeadline = std::chrono::seconds(120);

struct Entrant {
  Column column;
  std::function<Result<Tally>()> run;
};

Column describe(std::string_view name, std::string what, std::size_t workers) {
  return {std::string(name), std::move(what), workers, {}, ""};
}

// Measures columns in turns, so that all are measured in the same minutes on the same machine.
class Race {
 public:
  void add(Column column, Result<void> ready, std::function<Result<Tally>()> run) {
    if (!ready) column.why_not = ready.error().message;
    entrants_.push_back({std::move(column), std::move(run)});
  }
  void run(const Setup& setup) {
    for (int round = 0; round < setup.effort.rounds; ++round)
      for (auto& entrant : entrants_) {
        if (!entrant.column.why_not.empty() || setup.stop()) continue;
        if (auto tally = entrant.run())
          entrant.column.rounds.push_back(*tally);
        else
          entrant.column.why_not = tally.error().message;
      }
  }
  void finish(std::vector<Column>& columns) {
    for (auto& entrant : entrants_) columns.push_back(std::move(entrant.column));
  }

 private:
  std::vector<Entrant> entrants_;
};

Result<void> warm_up_bare(Result<BareProcess>& bare, std::span<const Mix> mixes) {
  if (!bare) return tl::unexpected(bare.error());
  // Two passes, because the first one maps memory.
  for (int pass = 0; pass < 2; ++pass)
    for (const auto mix : mixes) RZ_TRY(bare->run(mix, milliseconds(0), kWarmUp));
  return {};
}

// The kinds of work that a bare process supports.
enum class BareLoop : std::uint8_t { calls, trials };

void race(const Setup& setup, const Workload& workload, BareLoop loop, Throughput& out) {
  const milliseconds slice = setup.effort.slice;
  const Oracle& screen = setup.catalog.screen();
  auto bare = BareProcess::start(setup.bare_command(workload.name), workload, kBareDeadline);
  const Mix mixes[] = {Mix::async, Mix::screen, Mix::launches};
  const bool trials = loop == BareLoop::trials;
  const auto bare_ready = warm_up_bare(bare, std::span(mixes).first(trials ? 3 : 1));
  exec::PoolOptions alone = setup.pool;
  alone.workers = 1;
  PooledLoop one(alone, workload, setup.device, setup.registry, screen, setup.deadline);
  const auto one_ready = one.warm_up(kWarmUp);
  PooledLoop crew(setup.pool, workload, setup.device, setup.registry, screen, setup.deadline);
  const auto crew_ready = crew.warm_up(kWarmUp);

  Race race;
  const auto run_bare = [&](Mix mix) {
    return [&, mix] { return bare->run(mix, slice, kBareDeadline + slice); };
  };
  race.add(describe(kBare,
                    trials ? "one process, plain allocator, async, no checks: one trial a plan"
                           : "a loop of calls in one Python process, without Redzone",
                    1),
           bare_ready, run_bare(Mix::async));
  if (trials) {
    race.add(
        describe(kBareScreen,
                 "the same with the screen's trials: gated as written, blocking in reverse", 1),
        bare_ready, run_bare(Mix::screen));
    race.add(
        describe(kLaunches, "as many launches of an empty kernel as bare, one wait a trial", 1),
        bare_ready, run_bare(Mix::launches));
  }
  race.add(
      describe(
          kScreenOne,
          "the screen, one worker; compares with the reference, on a GPU large calls in samples",
          1),
      one_ready, [&] { return one.run(slice); });
  race.add(describe(kScreen, "the screen, with the workers of a campaign", crew.workers()),
           crew_ready, [&] { return crew.run(slice); });
  race.add(
      describe(kScreenNoReference, "the same without comparing with the reference", crew.workers()),
      crew_ready, [&] {
        crew.set_reference(false);
        auto tally = crew.run(slice);
        crew.set_reference(true);
        return tally;
      });
  race.run(setup);
  race.finish(out.columns);
  if (!trials || !bare_ready || setup.stop()) return;
  if (auto phases = bare->phases(slice, kWarmUp))
    out.phases = std::move(*phases);
  else
    out.why_no_phases = phases.error().message;
}

exec::WorkerCommand under_memcheck(const Setup& setup, exec::WorkerCommand command) {
  // In the tool's process this link refers to the tool, so resolve it first.
  std::error_code error;
  if (command.argv.front() == "/proc/self/exe")
    command.argv.front() = std::filesystem::read_symlink(command.argv.front(), error).string();
  command.argv.insert(command.argv.begin(), setup.memcheck_prefix.begin(),
                      setup.memcheck_prefix.end());
  return command;
}

// During the first half, the tool inspects every kernel for the first time; each half may end
// within the list.
Result<Tally> screen_under_memcheck(const Setup& setup, const Workload& workload) {
  exec::PoolOptions options = setup.pool;
  options.workers = 1;
  options.command = under_memcheck(setup, options.command);
  options.start_deadline = kMemcheckDeadline;
  PooledLoop loop(options, workload, setup.device, setup.registry, setup.catalog.screen(),
                  kMemcheckDeadline);
  const milliseconds half = setup.effort.memcheck / 2;
  RZ_TRY(loop.run(half, true));
  return loop.run(half, true);
}

Result<Tally> bare_under_memcheck(const Setup& setup, const Workload& workload) {
  RZ_TRY_ASSIGN(auto bare,
                BareProcess::start(under_memcheck(setup, setup.bare_command(workload.name)),
                                   workload, kMemcheckDeadline));
  // Only whole lists can be run.
  RZ_TRY(bare.run(Mix::async, milliseconds(0), kMemcheckDeadline));
  return bare.run(Mix::async, setup.effort.memcheck / 4, kMemcheckDeadline);
}

void add_memcheck_columns(const Setup& setup, const Workload& workload, BareLoop loop,
                          std::vector<Column>& columns) {
  const struct {
    std::string_view name;
    const char* what;
    Result<Tally> (*run)(const Setup&, const Workload&);
  } kinds[] = {
      {kMemcheckBare, "the bare process under compute-sanitizer memcheck", bare_under_memcheck},
      {kMemcheck, "the screen's trials in one long-lived worker under compute-sanitizer memcheck",
       screen_under_memcheck}};
  if (setup.why_no_memcheck.empty()) setup.say(fmt::format("memcheck, {} shapes", workload.name));
  for (const auto& kind : std::span(kinds).first(loop == BareLoop::trials ? 2 : 1)) {
    Column column = describe(kind.name, kind.what, 1);
    column.why_not = setup.why_no_memcheck;
    if (column.why_not.empty() && !setup.stop()) {
      if (auto tally = kind.run(setup, workload))
        column.rounds.push_back(*tally);
      else
        column.why_not = tally.error().message;
    }
    columns.push_back(std::move(column));
  }
}

Throughput measure(const Setup& setup, const Workload& workload, BareLoop loop) {
  setup.say(fmt::format("throughput, {} shapes", workload.name));
  Throughput out;
  out.workload = workload.name;
  out.what = workload.what;
  out.plans = workload.plans.size();
  out.plans_hash = hash_of(workload);
  out.generate_us = workload.generate_us;
  race(setup, workload, loop, out);
  add_memcheck_columns(setup, workload, loop, out.columns);
  return out;
}

}  // namespace

Result<Throughput> measure_throughput(const Setup& setup, std::string_view name) {
  RZ_TRY_ASSIGN(const auto workload,
                make_workload(name, setup.device, setup.registry, setup.effort.quick));
  return measure(setup, workload, BareLoop::trials);
}

Throughput measure_python_throughput(const Setup& setup, const Workload& workload) {
  return measure(setup, workload, BareLoop::calls);
}

}  // namespace redzone::bench
