// Writes a night's report to files.
#pragma once

#include <filesystem>

#include "core/error.h"
#include "report/night.h"

namespace redzone::nightly {

// Creates the folder if it is missing and tries to write to it, so that a problem is detected
// before the night. Returns a usage error if no file can be created in the folder.
Result<void> prepare_folder(const std::filesystem::path& folder);

// Writes every format to the existing folder; each file is replaced as a whole. Returns a harness
// error if a file cannot be written.
Result<void> write_night(const report::Night& night, const std::filesystem::path& folder);

}  // namespace redzone::nightly
