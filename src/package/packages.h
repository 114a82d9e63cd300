// Adds the targets of packages to a process.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "core/error.h"
#include "target/registry.h"

namespace redzone::package {

// Adds the targets of each package: NAME, which launches the variant that its knobs select;
// NAME.lazy_launch, the lazily compiled launch of the package; and puzzle.NAME.lazy_*, the lazily
// compiled launch with each mistake that it can make. All are for the GPU, and for dry runs, which
// check the launchers. A usage error describes the problem with the first package that cannot be
// added.
Result<void> add_packages(Registry& registry, std::span<const std::filesystem::path> folders);

// The folders of ../lib/redzone/packages, relative to the running binary, with a target.toml,
// ascending; empty if the folder is absent.
std::vector<std::filesystem::path> shipped_packages();

}  // namespace redzone::package
