// The configuration of a run: the device, the targets to load, and the worker processes. Plain
// values; the command line is parsed into them elsewhere.
#pragma once

#include <redzone/spec.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
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
  std::vector<std::filesystem::path> python_files = {};
  std::string python = {};  // interpreter for `python_files`; "": that of the environment
  Workload workload = Workload::replay;
  std::optional<std::chrono::milliseconds> deadline = {};  // of a trial; absent: by device
  std::optional<std::size_t> workers = {};
  // For a campaign on CUDA: number of processes that compile kernels of upcoming plans; absent:
  // depends on the number of cores.
  std::optional<std::size_t> compilers = {};
  // Tool under which all trials run; none: tools run only for trials that require one.
  SanitizerTool sanitizer = SanitizerTool::none;
  oracles::ScreenOptions screen = {};
  // See exec::PoolOptions.
  std::function<void(const std::string& target, std::chrono::milliseconds)> compiles = {};
  // Returns true if the user wants the run to end; called several times a second. Unset: never.
  std::function<bool()> interrupted = {};

  std::chrono::milliseconds trial_deadline() const;
};

// Loads the plugins, packages and Python files of the options and checks each.
Result<Registry> load_targets(const EngineOptions& options);

// Number of cores of this machine; at least 1.
std::size_t cores_here();

// Options of the worker processes of this run. `registry` provides the plugins that have targets
// for the device.
exec::PoolOptions pool_options(const EngineOptions& options, const Registry& registry,
                               std::size_t cores = cores_here());

// The command of a worker with the plugins, packages and Python files that have targets for the
// device. If there is a Python file, all of them are loaded into a process of its interpreter.
exec::WorkerCommand worker_command(DeviceKind device, const Registry& registry);
// Like worker_command(), but without Python files: always a process of this program.
exec::WorkerCommand own_worker_command(DeviceKind device, const Registry& registry);
// True if workers are processes of a Python interpreter.
bool has_python(const Registry& registry);

// Triage options for a campaign with this trial deadline and this number of spare workers.
// `python`: workers are processes of Python. `stop`: see EngineOptions::interrupted.
campaign::TriageOptions triage_options(const DeviceTraits& device,
                                       std::chrono::milliseconds deadline, std::size_t spares,
                                       bool python, std::function<bool()> stop);

}  // namespace redzone::engine
