// Converts flags to options of the engine.
#pragma once

#include "cli/flags.h"
#include "core/environment.h"
#include "engine/options.h"
#include "worker_library/worker_side.h"

namespace redzone::cli {

// From --device, --plugin, --package, --deadline and --workers, plus --sanitizer and --compilers if
// the command has them. Ctrl-C interrupts the engine.
Result<engine::EngineOptions> engine_options(const po::variables_map& flags,
                                             engine::Workload workload);
// As engine_options(), for something recorded earlier: without --device, the device on which it was
// seen if that is one without a GPU.
Result<engine::EngineOptions> rerun_options(const po::variables_map& flags,
                                            const Environment& found_in);

// The targets of --plugin, --package and --python-file, and those that ship. A Python file declares
// what it has for the device where something was found; for the host if it has run nowhere.
Result<Registry> load_registry(const po::variables_map& flags, const Environment& found_in = {});

// For a process that runs trials itself: --device names the device, and only the given targets are
// loaded.
Result<worker::WorkerSideOptions> worker_side_options(const po::variables_map& flags);

}  // namespace redzone::cli
