// The environment of a process that runs trials itself: a device and the targets for it.
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
  // On the dry-run device: compiles run-time compiled kernels for this compute capability.
  std::optional<int> compile_for = {};
  bool one_queue = false;  // contexts with one hardware queue (exec::Job::one_queue)
  // Kernels of this process' own libraries, which are many, are loaded when they are first used.
  bool lazy_kernels = false;
};

struct WorkerSide {
  std::unique_ptr<device::Device> device;
  Registry registry;
};

// The targets alone: opens nothing, so the process can be forked.
Result<Registry> load_worker_targets(const WorkerSideOptions& options);

// Opens the device, so never call it in the driver. `loaded`: the targets, if that was done before.
Result<WorkerSide> open_worker_side(const WorkerSideOptions& options,
                                    std::optional<Registry> loaded = {});

}  // namespace redzone::worker
