// Changes one dim of a call, and the dims that a constraint binds to it.
#pragma once

#include <string>

#include "core/plan.h"

namespace redzone::bisect {

// Sets `name` of the call to `value`, and the dims that a constraint binds to it to the nearest
// values that fit. The result may be invalid; check it with validate().
void set_dim(Call& call, const TargetSpec& spec, const std::string& name, std::int64_t value);

// The smallest value that the dim allows: the smallest of its list, or `min` rounded up to a
// multiple.
std::int64_t least_value(const DimSpec& dim);

// The largest value that a search tries: larger than the failing plan's value `own` if the dim
// allows, but small enough for short runs.
std::int64_t reach(const DimSpec& dim, std::int64_t own);

}  // namespace redzone::bisect
