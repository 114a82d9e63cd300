// Changing one dim of a call, and what a constraint binds to it.
#pragma once

#include <string>

#include "core/plan.h"

namespace redzone::bisect {

// Changes `name` of the call to `value`, and the dims that a constraint binds to it to the nearest
// values that fit. Whether all fits in the end is validate()'s question.
void set_dim(Call& call, const TargetSpec& spec, const std::string& name, std::int64_t value);

}  // namespace redzone::bisect
