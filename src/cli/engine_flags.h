// Converts flags to options of the engine.
#pragma once

#include "cli/flags.h"
#include "core/environment.h"
#include "engine/options.h"
#include "worker_library/worker_side.h"

namespace redzone::cli {

// Reads --device, --plugin, --package, --deadline and --workers, plus --sanitizer and --compilers
// if the command has them. Ctrl-C interrupts the engine.
Result<engine::EngineOptions> engine_options(const po::variables_map& flags,
                                             engine::Workload workload);
// Like engine_options(), for something recorded earlier: without --device, uses the recorded device
// if that is one without a GPU.
Result<engine::EngineOptions> rerun_options(const po::variables_map& flags,
                                            const Environment& found_in);

// Loads the targets of --plugin, --package and --python-file, and the shipped ones. A Python file
// declares its targets for the device in `found_in`, or for the host if that is empty.
Result<Registry> load_registry(const po::variables_map& flags, const Environment& found_in = {});

// For a process that runs trials itself: --device names the device, and only the given targets are
// loaded.
Result<worker::WorkerSideOptions> worker_side_options(const po::variables_map& flags);

}  // namespace redzone::cli
