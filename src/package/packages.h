// Packages among the targets of a process.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "core/error.h"
#include "target/registry.h"

namespace redzone::package {

// Adds the target of each package, for the GPU. A usage error names what is wrong with the first
// that cannot be added.
Result<void> add_packages(Registry& registry, std::span<const std::filesystem::path> folders);

// The folders of ../lib/redzone/packages seen from the running binary that have a target.toml,
// ascending; none when it is absent.
std::vector<std::filesystem::path> shipped_packages();

}  // namespace redzone::package
