// The host build of the plugin `puzzles`.
#pragma once

#include "target/registry.h"

namespace redzone::puzzles {

// Loaded once; ends the process if the plugin cannot be loaded.
const Registry& shipped_registry();
const TargetSpec& shipped_spec(std::string_view name);

}  // namespace redzone::puzzles
