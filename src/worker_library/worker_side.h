// The environment of a process that runs trials: a device and its targets.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "device/device.h"
#include "target/registry.h"

namespace redzone::worker {

struct WorkerSideOptions {
  DeviceKind device;
  std::vector<std::filesystem::path> plugins = {}, packages = {};  // only these are loaded
  // On the dry-run device: compute capability for which run-time compiled kernels are compiled.
  std::optional<int> compile_for = {};
  bool one_queue = false;  // contexts with one hardware queue (exec::Job::one_queue)
  // Load the kernels of this process' own libraries, which are many, at their first use.
  bool lazy_kernels = false;
};

struct WorkerSide {
  std::unique_ptr<device::Device> device;
  Registry registry;
};

// Loads the targets only; opens nothing, so the process can be forked.
Result<Registry> load_worker_targets(const WorkerSideOptions& options);

// Opens the device, so never call it in the driver. `loaded`: the targets, if they are loaded
// already.
Result<WorkerSide> open_worker_side(const WorkerSideOptions& options,
                                    std::optional<Registry> loaded = {});

}  // namespace redzone::worker
