#include "bench/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/bare_loop.h"
#include "bench/bench.h"
#include "bench/guard_programs.h"
#include "bench/minute.h"
#include "bench/python_calls.h"
#include "bench/tma.h"
#include "core/build_environment.h"
#include "core/device_traits.h"
#include "core/mode_axes.h"
#include "core/temporary_folder.h"
#include "core/utc.h"
#include "engine/plans.h"
#include "engine/sanitized.h"
#include "engine/tools.h"
#include "python/interpreter.h"
#include "sanitizer/command.h"

namespace redzone::bench {
namespace {

constexpr std::uint64_t kQuickDescriptors = 20000;

Effort effort_for(bool quick) {
  Effort effort;
  if (!quick) return effort;
  using std::chrono::milliseconds;
  effort.quick = true;
  effort.rounds = 1;
  effort.slice = milliseconds(300);
  effort.memcheck = milliseconds(4000);
  effort.seeds = {1};
  effort.detection = milliseconds(8000);
  effort.faults = 3;
  effort.mode_trials = 8;
  effort.launcher_trials = 8;
  effort.correct_calls = 500;
  effort.correct = milliseconds(8000);
  effort.descriptors = kQuickDescriptors;
  effort.minute = milliseconds(6000);
  effort.kernels = milliseconds(1500);
  effort.python_plans = 6;
  effort.guard_runs = 1;
  return effort;
}

// Uses memcheck as a campaign does. The tool's output goes to a file in `logs` and is not read.
void open_memcheck(Setup& setup, const TemporaryFolder& logs) {
  if (const auto& device = traits_of(setup.device); !device.tools.compute_sanitizer) {
    setup.why_no_memcheck = fmt::format("memcheck cannot check the {} device", device.name);
    return;
  }
  const std::string tool = engine::find_tool("compute-sanitizer");
  if (tool.empty())
    setup.why_no_memcheck = "compute-sanitizer was not found";
  else
    setup.memcheck_prefix =
        sanitizer::command_prefix(tool, SanitizerTool::memcheck, logs.path() / "memcheck");
}

// The pool's worker command with another command name; device and plugins stay the same.
exec::WorkerCommand bare_command(exec::WorkerCommand command, std::string_view workload,
                                 bool quick) {
  command.argv.at(1) = kBareCommand;
  command.argv.insert(command.argv.end(), {"--workload", std::string(workload)});
  if (quick) command.argv.emplace_back("--quick");
  return command;
}

// The hello message of a worker, which describes the device.
Result<exec::Hello> first_hello(exec::PoolOptions pool) {
  pool.workers = 1;
  pool.spares = 0;
  return exec::Pool(std::move(pool)).wait_ready(std::chrono::seconds(60));
}

// The part of the setup that is common to both devices.
Setup setup_of(const engine::EngineOptions& options, const Registry& registry,
               const oracles::Catalog& catalog, const exec::Hello& worker) {
  Setup setup{.device = options.device, .registry = registry, .catalog = catalog};
  setup.pool = engine::pool_options(options, registry);
  setup.deadline = options.trial_deadline();
  setup.triage =
      engine::triage_options(traits_of(options.device), setup.deadline, setup.pool.spares,
                             engine::has_python(registry), options.interrupted);
  setup.simplify = engine::simplify_for();
  setup.plans = [&registry, device = options.device, worker](const TargetSpec& spec,
                                                             std::uint64_t seed) {
    return engine::generated_plans(spec, traits_of(device), worker, seed, {},
                                   registry.find(spec.name, device));
  };
  setup.stop = [stop = options.interrupted] { return stop && stop(); };
  return setup;
}

// The setup of the dry-run device.
Setup setup_of_none(const Setup& native, engine::EngineOptions options,
                    const oracles::Catalog& dry) {
  options.device = DeviceKind::dry_run;
  Setup setup = setup_of(options, native.registry, dry, {});
  setup.say = native.say;
  setup.effort = native.effort;
  // A dry-run campaign finds everything that it can find within seconds.
  setup.effort.detection =
      std::min<std::chrono::milliseconds>(native.effort.detection, std::chrono::seconds(10));
  return setup;
}

// Measures the shipped Python file, in separate workers. If the interpreter lacks something, the
// result contains the reason.
Result<PythonCalls> measure_python(engine::EngineOptions options, const Setup& native) {
  native.say("Python targets");
  options.python_files = {python::library_folder() / "python" / "targets" / "benchmark.py"};
  options.plugins.clear();
  options.packages.clear();
  const auto registry = engine::load_targets(options);
  if (!registry) return PythonCalls{.why_not = registry.error().message};
  RZ_TRY_ASSIGN(const auto worker, first_hello(engine::pool_options(options, *registry)));
  const auto& execution = traits_of(options.device).execution;
  auto axes = mode_axes_with(execution.seed_decides);
  if (execution.on_host_cores) axes = mode_axes_at_once(std::move(axes));
  const oracles::Catalog catalog({}, SanitizerTool::none, {}, std::move(axes));
  Setup setup = setup_of(options, *registry, catalog, worker);
  setup.say = native.say;
  setup.effort = native.effort;
  setup.memcheck_prefix = native.memcheck_prefix;
  setup.why_no_memcheck = native.why_no_memcheck;
  return measure_python_calls(setup);
}

}  // namespace

Result<Report> run(const RunOptions& options) {
  const DeviceTraits& device = traits_of(options.engine.device);
  if (!device.execution.runs_kernels)
    return usage_error(
        fmt::format("--device {}: nothing runs on it that could be measured", device.name));
  RZ_TRY(guard_programs(options.programs, std::string()));
  RZ_TRY_ASSIGN(const auto registry, engine::load_targets(options.engine));
  for (const auto& puzzle : options.puzzles) {
    RZ_TRY_ASSIGN(const auto entry, registry.require(puzzle, options.engine.device));
    if (entry->spec.category != Category::puzzle || entry->is_package())
      return usage_error(
          fmt::format("--puzzle {}: not a puzzle of a plugin, and no others are measured", puzzle));
  }
  RZ_TRY_ASSIGN(const auto worker, first_hello(engine::pool_options(options.engine, registry)));
  RZ_TRY_ASSIGN(const auto logs, TemporaryFolder::create("sanitizer"));

  const oracles::Catalog catalog;
  Setup setup = setup_of(options.engine, registry, catalog, worker);
  setup.effort = effort_for(options.quick);
  setup.effort.parts = options.parts;
  setup.effort.puzzles = options.puzzles;
  setup.say = options.say;
  setup.bare_command = [&](std::string_view workload) {
    return bare_command(setup.pool.command, workload, options.quick);
  };
  open_memcheck(setup, logs);
  engine::SanitizedPools sanitized(device, setup.pool.command, options.engine.interrupted);
  setup.sanitized = [&](SanitizerTool tool) { return sanitized.open(tool); };
  setup.minute = [&] { return measure_minute(options.engine, setup.effort, setup.say); };
  setup.python = [&] { return measure_python(options.engine, setup); };
  Report report;
  setup.guard = [&] { return measure_guard(options, setup, report); };
  const oracles::Catalog dry = oracles::Catalog::dry();
  const Setup none = setup_of_none(setup, options.engine, dry);
  setup.none = &none;

  report.environment = collect_environment(worker.device, worker.driver, worker.compute_capability,
                                           worker.nvrtc, "");
  report.commit = options.commit;
  report.command = options.command;
  report.date = utc_now();
  RZ_TRY(run_benchmark(setup, report));
  report.interrupted = setup.stop();
  return report;
}

Result<int> serve_bare(const worker::WorkerSideOptions& options, const std::string& workload,
                       bool quick, int socket) {
  RZ_TRY_ASSIGN(auto side, worker::open_worker_side(options));
  if (workload == kDescriptorLoop)
    return serve_descriptors(socket, *side.device, effort_for(quick).descriptors);
  RZ_TRY_ASSIGN(const auto made,
                make_workload(workload, side.device->info().kind, side.registry, quick));
  const oracles::Catalog catalog;
  return serve_bare_loop(socket, *side.device, side.registry, made, catalog.screen());
}

}  // namespace redzone::bench
