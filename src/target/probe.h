// Tries plugins in a process that may crash.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <span>

#include "core/error.h"

namespace redzone {

// Loads all plugins, in order, in one forked child and reports the first that does not load: a
// usage error that names the file and describes the failure (also: exited, killed by a signal,
// timed out). `deadline` applies to each plugin. `stop` is called several times a second; once it
// returns true, the function returns a harness error. The output of the child is discarded. Call
// the function before starting threads that hold locks.
Result<void> probe_plugins(std::span<const std::filesystem::path> plugins,
                           std::chrono::milliseconds deadline,
                           const std::function<bool()>& stop = {});

}  // namespace redzone
