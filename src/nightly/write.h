// Writes a night's report to files.
#pragma once

#include <filesystem>

#include "core/error.h"
#include "report/night.h"

namespace redzone::nightly {

// Creates the folder if it is missing and tries to write in it, so that a problem shows before the
// night. A usage error if no file can be created in it.
Result<void> prepare_folder(const std::filesystem::path& folder);

// Writes every format to the existing folder; each file is replaced whole. A harness error if one
// cannot be written.
Result<void> write_night(const report::Night& night, const std::filesystem::path& folder);

}  // namespace redzone::nightly
