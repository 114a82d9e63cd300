// A night's means over an engine.
#pragma once

#include "engine/engine.h"
#include "nightly/means.h"

namespace redzone::nightly {

// Borrows the engine. What people are told is left to the caller.
Means means_over(engine::Engine& engine);

}  // namespace redzone::nightly
