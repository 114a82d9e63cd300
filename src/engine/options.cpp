#include "engine/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "memory_preload/preload_variable.h"
#include "package/packages.h"
#include "python/describe.h"
#include "python/interpreter.h"
#include "python/targets.h"

namespace redzone::engine {
namespace {

// Workers that take longer than this to start are reused rather than started fresh each time.
constexpr std::chrono::milliseconds kCheapStart{100};

// Maximum number of workers that start at the same time if starting them is costly. On an H200
// (driver 580, bench/results/nvidia-h200-contexts.txt), creating a context beside another takes 223
// ms one at a time, and 182 to 187 ms two or eight at a time; meanwhile a mapping call of another
// process takes 6, 9 and 12 times as long.
constexpr std::size_t kMostCostlyStarts = 2;

// Number of fresh jobs that run at a time, besides the screen's worker, on a device that is
// separate from the cores. Measured on an H200 (driver 580) over a minute of the puzzles: the
// median trial takes 0.2 ms while no other worker runs one, 0.4 ms beside one, 5 ms beside three,
// and 50 ms beside six.
constexpr std::size_t kMostInTurn = 1;

// After this long without progress, the screen on such a device continues in another worker, which
// takes about as long to start.
constexpr std::chrono::milliseconds kHeldUp{500};

// Jobs of one finding that are submitted together on such a device: one more than run at a time, so
// that the next job is ready when one ends.
constexpr std::size_t kMostTogether = kMostInTurn + 1;

bool is_costly(const WorkerTraits& worker) {
  return worker.start > kCheapStart;
}

// Importing torch takes up to 5 s on two cores, and the imports of the user's files take additional
// time.
constexpr std::chrono::milliseconds kPythonStart{120'000};

// One worker per core if the cores do the work. One warm worker keeps a GPU busier than several
// that take turns (bench/results: a third of the calls/s with four); half the cores start spares.
struct WorkerCounts {
  std::size_t workers;
  std::size_t spares;
};

WorkerCounts worker_counts_for(const DeviceTraits& device, std::size_t cores) {
  if (device.execution.on_host_cores) return {.workers = cores, .spares = cores};
  return {.workers = 1, .spares = std::clamp<std::size_t>(cores / 2, 1, 8)};
}

bool is_python(const TargetEntry& entry) {
  return entry.origin.source == TargetSource::python;
}

// Environment that a worker of Python targets on the device needs beside python::variables(): a
// host device takes memory from a preloaded library.
WorkerEnvironment python_environment(DeviceKind device) {
  if (!traits_of(device).execution.on_host_cores) return {};
  const char* const now = std::getenv("LD_PRELOAD");
  const auto preload = memory_preload::preload_variable(
      python::library_folder() / "libredzone_memory.so", now == nullptr ? "" : now);
  if (preload.value.empty()) return {};
  return {.variables = {"LD_PRELOAD=" + preload.value}, .kept = preload.folder};
}

Result<void> add_python(Registry& registry, const EngineOptions& options) {
  RZ_TRY_ASSIGN(const auto interpreter, python::find_interpreter(options.python));
  auto environment = python_environment(options.device);
  RZ_TRY_ASSIGN(const auto descriptions,
                python::describe(interpreter, options.python_files,
                                 {.device = std::string(name_of(options.device)),
                                  .environment = environment.variables,
                                  .stop = options.interrupted}));
  TargetOrigin origin{.source = TargetSource::python,
                      .interpreter = descriptions.executable.empty() ? interpreter.path.string()
                                                                     : descriptions.executable,
                      .interpreter_given = interpreter.given};
  registry.set_worker_environment(std::move(environment));
  return python::add_targets(registry, descriptions, origin, python::without_python);
}

// Appends the device, and the plugins, packages or files that have targets for it, to the command.
template <class Wanted>
void append_targets(exec::WorkerCommand& command, DeviceKind device, const Registry& registry,
                    Wanted wanted) {
  command.argv.insert(command.argv.end(), {"--device", std::string(name_of(device))});
  std::vector<std::string_view> given;
  for (const auto& entry : registry.entries()) {
    const std::string& path = entry.origin.path;
    if (!wanted(entry) || registry.find(entry.spec.name, device) != &entry ||
        std::find(given.begin(), given.end(), path) != given.end())
      continue;
    given.push_back(path);
    command.argv.emplace_back(flag_of(entry.origin.source));
    command.argv.push_back(std::filesystem::absolute(path).string());
  }
}

}  // namespace

std::chrono::milliseconds EngineOptions::trial_deadline() const {
  return deadline.value_or(traits_of(device).workers.trial_deadline);
}

Result<Registry> load_targets(const EngineOptions& options) {
  auto registry = Registry::load(options.plugins, Registry::kFunctionDeadline, options.interrupted);
  if (!registry) return registry;
  RZ_TRY(package::add_packages(*registry, options.packages));
  if (!options.python_files.empty()) RZ_TRY(add_python(*registry, options));
  return registry;
}

bool has_python(const Registry& registry) {
  const auto all = registry.entries();
  return std::any_of(all.begin(), all.end(), is_python);
}

exec::WorkerCommand own_worker_command(DeviceKind device, const Registry& registry) {
  exec::WorkerCommand command;
  command.argv = {"/proc/self/exe", "worker"};
  append_targets(command, device, registry,
                 [](const TargetEntry& entry) { return !is_python(entry); });
  return command;
}

exec::WorkerCommand worker_command(DeviceKind device, const Registry& registry) {
  const auto all = registry.entries();
  const auto first = std::find_if(all.begin(), all.end(), is_python);
  if (first == all.end()) return own_worker_command(device, registry);
  exec::WorkerCommand command;
  command.argv = python::worker_words(first->origin.interpreter);
  command.environment = python::variables();
  const auto& variables = registry.worker_environment().variables;
  command.environment.insert(command.environment.end(), variables.begin(), variables.end());
  command.environment.push_back(fmt::format("{}={}", python::kCodeHash, first->loaded_hash));
  command.environment.push_back(fmt::format(
      "{}={}/{}", python::kZygote, python::zygote_name(name_of(device)), first->loaded_hash));
  append_targets(command, device, registry, [](const TargetEntry&) { return true; });
  return command;
}

std::size_t cores_here() {
  return std::max(1u, std::thread::hardware_concurrency());
}

exec::PoolOptions pool_options(const EngineOptions& options, const Registry& registry,
                               std::size_t cores) {
  const DeviceTraits& device = traits_of(options.device);
  const WorkerCounts counts = worker_counts_for(device, cores);
  exec::PoolOptions pool;
  pool.command = worker_command(options.device, registry);
  if (device.workers.starts_sooner_with_one_queue) {
    pool.one_queue = pool.command;
    pool.one_queue->argv.emplace_back("--one-queue");
  }
  const bool replay = options.workload == Workload::replay;
  pool.workers = replay ? 0 : options.workers.value_or(counts.workers);
  pool.spares = replay ? options.workers.value_or(counts.spares) : counts.spares;
  const bool python = has_python(registry);
  if (python) pool.start_deadline = kPythonStart;
  pool.has_zygote = device.workers.has_zygote && !python;
  pool.most_used = is_costly(device.workers) || python ? counts.spares : 0;
  if (is_costly(device.workers)) pool.most_starting = kMostCostlyStarts;
  if (!device.execution.on_host_cores) {
    pool.most_in_turn = kMostInTurn;
    pool.held_up_after = kHeldUp;
  }
  pool.recycle_after_plans = device.workers.recycle_after_plans;
  pool.compiles = options.compiles;
  pool.interrupted = options.interrupted;
  return pool;
}

campaign::TriageOptions triage_options(const DeviceTraits& device,
                                       std::chrono::milliseconds deadline, std::size_t spares,
                                       bool python, std::function<bool()> stop) {
  campaign::TriageOptions options;
  options.deadline = deadline;
  options.parallel = spares;
  // A larger batch would only wait for its turn, with plans that may no longer be needed.
  options.batch = device.execution.on_host_cores ? spares : kMostInTurn;
  if (!device.execution.on_host_cores) options.together = kMostTogether;
  options.reuse_workers = is_costly(device.workers) || python;
  // If a fork of the zygote serves as a fresh worker, no trials need to share a worker.
  options.groups_trials = is_costly(device.workers);
  options.shared_state = python;
  options.hang_deadline = device.workers.hang_deadline;
  options.seeds_decide_contention = device.execution.seed_decides == SeedDecides::contention;
  // A device that reports which call faulted also reports the address.
  options.faults_name_buffers = device.execution.fault_names_call;
  if (options.reuse_workers) {  // each fault costs a worker
    options.confirm_runs = 2;
    options.final_runs = 7;
    options.attribution_runs = 1;
  }
  // No kernel runs, so no mode can matter.
  if (!device.execution.runs_kernels) options.attribution_runs = 0;
  options.stop = std::move(stop);
  return options;
}

}  // namespace redzone::engine
