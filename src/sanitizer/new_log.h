// A log file for one worker's session of the tool.
#pragma once

#include <filesystem>

#include "core/error.h"

namespace redzone::sanitizer {

// Creates a new, empty file in `folder`.
Result<std::filesystem::path> new_log(const std::filesystem::path& folder);

}  // namespace redzone::sanitizer
