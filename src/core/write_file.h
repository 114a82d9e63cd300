// Writes a file as a whole.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/error.h"

namespace redzone {

// Replaces the contents of a regular file by `text` in one step; on an error the file is unchanged.
// Pipes and devices are written directly. Links are followed. The error names the file: a usage
// error if another name would help (a folder that does not exist or is not writable), else, such as
// on a full disk, a harness error.
Result<void> write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace redzone
