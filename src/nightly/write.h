// A night's report as files.
#pragma once

#include <filesystem>

#include "core/error.h"
#include "report/night.h"

namespace redzone::nightly {

// Makes the folder where it is not there, and tries it: found out before the night rather than
// after it. A usage error when no file can be made in it.
Result<void> prepare_folder(const std::filesystem::path& folder);

// Every format into the folder, which is there; each file is replaced whole. A harness error when
// one cannot be written.
Result<void> write_night(const report::Night& night, const std::filesystem::path& folder);

}  // namespace redzone::nightly
