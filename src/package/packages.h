// Packages among the targets of a process.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "core/error.h"
#include "target/registry.h"

namespace redzone::package {

// Adds the targets of each package: NAME, which launches the variant that its knobs say;
// NAME.lazy_launch, the lazily compiled launch over it; and that with each mistake that it can
// make, puzzle.NAME.lazy_*. All are for the GPU, and for the device that runs nothing, which judges
// the launchers. A usage error names what is wrong with the first that cannot be added.
Result<void> add_packages(Registry& registry, std::span<const std::filesystem::path> folders);

// The folders of ../lib/redzone/packages seen from the running binary that have a target.toml,
// ascending; none when it is absent.
std::vector<std::filesystem::path> shipped_packages();

}  // namespace redzone::package
