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

// What a process brings of its own; all may be empty.
struct OwnTargets {
  // Adds targets to those of plugins and packages. The black box lives as long as the process.
  std::function<Result<void>(Registry&, device::BlackBox&)> add = {};
  std::function<void(bool begins)> trial = {};  // around each trial
  // Called before the first trial, with what the code of these targets runs under
  // (memory_preload::GuardedCode). It lives as long as the process serves.
  std::function<void(memory_preload::GuardedTrials&)> guard = {};
  // Called before the first trial, with what takes the allocations of their framework on the
  // device. It lives as long as the process serves.
  std::function<void(trial::OwnBlocks&)> own_blocks = {};
};

// Opens the device, so never call it in the driver. The exit code for the driver.
Result<int> serve(const WorkerOptions& options, const OwnTargets& own = {});

}  // namespace redzone::worker
