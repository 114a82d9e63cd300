// Reads a package folder and checks all of it: target.toml, the cubins, and Triton's metadata.
#pragma once

#include <filesystem>

#include "core/error.h"
#include "package/package.h"

namespace redzone::package {

// Needs no GPU. A usage error names the file and the field of the first thing that is missing, of
// the wrong type or range, or contradicts another: also a cubin whose architecture, parameters,
// block or cluster are not those that the description and the metadata give, and shared memory
// above what the architecture has.
Result<Package> read_package(const std::filesystem::path& folder);

}  // namespace redzone::package
