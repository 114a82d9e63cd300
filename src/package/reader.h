// Reads and checks a complete package folder: target.toml, the cubins, and Triton's metadata.
#pragma once

#include <filesystem>

#include "core/error.h"
#include "package/package.h"

namespace redzone::package {

// Needs no GPU. A usage error names the file and field of the first part that is missing, has a
// wrong type or range, or contradicts another part. This includes a cubin whose architecture,
// parameters, block or cluster differ from the description and the metadata, and shared memory
// above the architecture's limit.
Result<Package> read_package(const std::filesystem::path& folder);

}  // namespace redzone::package
