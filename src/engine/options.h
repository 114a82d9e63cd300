// How a run is composed: the device, what is loaded, and the processes that do the work. Plain
// values; the command line is parsed into them elsewhere.
#pragma once

#include <redzone/spec.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "campaign/triage.h"
#include "core/device_traits.h"
#include "exec/pool.h"
#include "oracles/catalog.h"
#include "target/registry.h"

namespace redzone::engine {

enum class Workload {
  campaign,  // warm workers and spares
  replay,    // spares only
};

struct EngineOptions {
  DeviceKind device = DeviceKind::host;
  std::vector<std::filesystem::path> plugins = {};
  std::vector<std::filesystem::path> packages = {};  // folders
  Workload workload = Workload::replay;
  std::optional<std::chrono::milliseconds> deadline = {};  // of a trial; absent: by device
  // Warm workers, or for a replay those that run at a time; absent: by device and cores.
  std::optional<std::size_t> workers = {};
  // Of a campaign on CUDA: processes that compile kernels of plans to come; absent: by cores.
  std::optional<std::size_t> compilers = {};
  // What trials run under besides; none: the tools are there for what asks for one.
  SanitizerTool sanitizer = SanitizerTool::none;
  oracles::ScreenOptions screen = {};
  // True: the user wants it to end; asked several times a second. Unset: never.
  std::function<bool()> interrupted = {};

  std::chrono::milliseconds trial_deadline() const;
};

// Plugins and packages of the options, each checked.
Result<Registry> load_targets(const EngineOptions& options);

// The worker processes of such a run. `registry` says which plugins have something for the device.
exec::PoolOptions pool_options(const EngineOptions& options, const Registry& registry);

// The command of a worker with the plugins and packages that have something for the device.
exec::WorkerCommand worker_command(DeviceKind device, const Registry& registry);

// Of a campaign with that deadline of a trial and so many spare workers; `stop` as in
// EngineOptions::interrupted.
campaign::TriageOptions triage_options(const DeviceTraits& device,
                                       std::chrono::milliseconds deadline, std::size_t spares,
                                       std::function<bool()> stop);

}  // namespace redzone::engine
