// Flags to what the engine takes.
#pragma once

#include "cli/flags.h"
#include "core/environment.h"
#include "engine/options.h"
#include "engine/worker_side.h"

namespace redzone::cli {

// From --device, --plugin, --package, --deadline and --workers, and --sanitizer and --compilers
// where the command has them. Interrupted by Ctrl-C.
Result<engine::EngineOptions> engine_options(const po::variables_map& flags,
                                             engine::Workload workload);
// The same for what was recorded on another occasion: without --device, on the device that it was
// seen on, where that is one without a GPU.
Result<engine::EngineOptions> rerun_options(const po::variables_map& flags,
                                            const Environment& found_in);

// The targets of --plugin and --package and those that ship.
Result<Registry> load_registry(const po::variables_map& flags);

// Of a process that runs trials itself: --device names one, and only what is given is loaded.
Result<engine::WorkerSideOptions> worker_side_options(const po::variables_map& flags);

}  // namespace redzone::cli
