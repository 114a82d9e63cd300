// Draws knob values, often the defaults.
#pragma once

#include "core/plan.h"

namespace redzone::generators {

class Draw;

Config default_config(const TargetSpec& spec);

// Draws the defaults half of the time; otherwise each knob is at its default or drawn uniformly.
Config draw_config(Draw& draw, const TargetSpec& spec);

// Gives one knob another value. Returns false if no knob has two values.
bool switch_knob(Draw& draw, const TargetSpec& spec, Config& config);

}  // namespace redzone::generators
