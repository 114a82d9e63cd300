// Tries plugins out in a process that may crash.
#pragma once

#include <chrono>
#include <filesystem>
#include <span>

#include "core/error.h"

namespace redzone {

// Loads all plugins, in order, in one forked child and reports the first that does not load: a
// usage error that names the file and describes the failure (also: exited, killed by a signal,
// timed out). `deadline` is for each plugin. The child's output is discarded. Must be called before
// threads that hold locks are started.
Result<void> probe_plugins(std::span<const std::filesystem::path> plugins,
                           std::chrono::milliseconds deadline);

}  // namespace redzone
