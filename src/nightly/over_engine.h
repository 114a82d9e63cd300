// Builds a night's dependencies over an engine.
#pragma once

#include "engine/engine.h"
#include "nightly/means.h"

namespace redzone::nightly {

// Borrows the engine. The caller sets the callbacks that inform people.
Means means_over(engine::Engine& engine);

}  // namespace redzone::nightly
