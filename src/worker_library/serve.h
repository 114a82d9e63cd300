// Runs the trials of a driver in this process.
#pragma once

#include <functional>

#include "core/error.h"
#include "device/black_box.h"
#include "memory_preload/guarded_trials.h"
#include "target/registry.h"
#include "trial/own_blocks.h"
#include "worker_library/flags.h"

namespace redzone::worker {

// Additions of the process; all may be empty.
struct OwnTargets {
  // Adds targets to those of plugins and packages. The black box is valid until the process ends.
  std::function<Result<void>(Registry&, device::BlackBox&)> add = {};
  std::function<void(bool begins)> trial = {};  // called before and after each trial
  // Called before the first trial with the object for memory_preload::GuardedCode, within which the
  // code of these targets must run. The object is valid while the process serves.
  std::function<void(memory_preload::GuardedTrials&)> guard = {};
  // Called before the first trial with the object that handles the framework's allocations on the
  // device. The object is valid while the process serves.
  std::function<void(trial::OwnBlocks&)> own_blocks = {};
};

// Opens the device, so never call it in the driver. Returns the exit code of the worker.
Result<int> serve(const WorkerOptions& options, const OwnTargets& own = {});

}  // namespace redzone::worker
