// Builds a night's dependencies over an engine.
#pragma once

#include "engine/engine.h"
#include "nightly/means.h"

namespace redzone::nightly {

// Borrows the engine. The callbacks for people are left to the caller.
Means means_over(engine::Engine& engine);

}  // namespace redzone::nightly
