// Knob values: often the defaults, else any.
#pragma once

#include "core/plan.h"

namespace redzone::generators {

class Draw;

Config default_config(const TargetSpec& spec);

// The defaults half of the time; else each knob at its default or uniform.
Config draw_config(Draw& draw, const TargetSpec& spec);

// Gives one knob another value. False when no knob has two values.
bool switch_knob(Draw& draw, const TargetSpec& spec, Config& config);

}  // namespace redzone::generators
