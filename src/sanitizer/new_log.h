// A log file for one worker's session of the tool.
#pragma once

#include <filesystem>

#include "core/error.h"

namespace redzone::sanitizer {

// A new, empty file of its own in `folder`.
Result<std::filesystem::path> new_log(const std::filesystem::path& folder);

}  // namespace redzone::sanitizer
