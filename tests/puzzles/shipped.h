// The host build of the plugin `puzzles`.
#pragma once

#include "target/registry.h"

namespace redzone::puzzles {

// Loaded once; ends the process if the plugin cannot be loaded.
// `checked`: in their build for checks; what the first call says holds for the process.
const Registry& shipped_registry(bool checked = false);
const TargetSpec& shipped_spec(std::string_view name);

}  // namespace redzone::puzzles
