#include "engine/options.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "package/packages.h"

namespace redzone::engine {
namespace {

// A fresh worker on the GPU takes a quarter of a second to come up, so several are kept waiting; on
// the host device a few milliseconds, so one a core is enough. One warm worker keeps a GPU busier
// than several, which take turns (bench/results: a third of the calls/s with four).
struct Crew {
  std::size_t workers;
  std::size_t spares;
  std::size_t recycle_after_plans;
};

Crew crew_for(DeviceKind device) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  if (device == DeviceKind::host)
    return {.workers = cores, .spares = cores, .recycle_after_plans = 200};
  if (device == DeviceKind::none)
    return {.workers = cores, .spares = cores, .recycle_after_plans = 20000};
  return {.workers = 1,
          .spares = std::clamp<std::size_t>(cores / 2, 1, 8),
          .recycle_after_plans = 2000};
}

}  // namespace

std::chrono::milliseconds EngineOptions::trial_deadline() const {
  return deadline.value_or(std::chrono::seconds(device == DeviceKind::cuda ? 5 : 2));
}

Result<Registry> load_targets(const EngineOptions& options) {
  auto registry = Registry::load(options.plugins);
  if (!registry) return registry;
  if (auto added = package::add_packages(*registry, options.packages); !added)
    return tl::unexpected(added.error());
  return registry;
}

exec::WorkerCommand worker_command(DeviceKind device, const Registry& registry) {
  exec::WorkerCommand command;
  command.argv = {"/proc/self/exe", "worker", "--device", std::string(name_of(device))};
  std::vector<std::filesystem::path> given;
  for (const auto& entry : registry.entries()) {
    if (registry.find(entry.spec.name, device) != &entry ||
        std::find(given.begin(), given.end(), entry.plugin) != given.end())
      continue;
    given.push_back(entry.plugin);
    command.argv.emplace_back(entry.is_package ? "--package" : "--plugin");
    command.argv.push_back(std::filesystem::absolute(entry.plugin).string());
  }
  return command;
}

exec::PoolOptions pool_options(const EngineOptions& options, const Registry& registry) {
  const Crew crew = crew_for(options.device);
  exec::PoolOptions pool;
  pool.command = worker_command(options.device, registry);
  const bool replay = options.workload == Workload::replay;
  pool.workers = replay ? 0 : options.workers.value_or(crew.workers);
  pool.spares = replay ? options.workers.value_or(crew.spares) : crew.spares;
  pool.most_used = options.device == DeviceKind::cuda ? crew.spares : 0;
  pool.recycle_after_plans = crew.recycle_after_plans;
  pool.interrupted = options.interrupted;
  return pool;
}

campaign::TriageOptions triage_options(DeviceKind device, std::chrono::milliseconds deadline,
                                       std::size_t spares, std::function<bool()> stop) {
  campaign::TriageOptions options;
  options.deadline = deadline;
  options.parallel = spares;
  options.reuse_workers = device == DeviceKind::cuda;
  options.hang_deadline = std::chrono::milliseconds(device == DeviceKind::cuda ? 750 : 400);
  if (options.reuse_workers) {  // each fault costs a worker
    options.confirm_runs = 2;
    options.final_runs = 7;
    options.attribution_runs = 1;
  }
  // Nothing runs that a mode could matter to.
  if (device == DeviceKind::none) options.attribution_runs = 0;
  options.stop = std::move(stop);
  return options;
}

}  // namespace redzone::engine
