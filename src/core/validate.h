// Does a plan fit a target? Asked of everything that did not come out of our own generator.
#pragma once

#include "core/error.h"
#include "core/plan.h"

namespace redzone {

// The first thing wrong, as a usage error that names the step, the dim or knob, its value and what
// would be right. `where` starts the message.
Result<void> validate(const Plan& plan, const TargetSpec& spec, std::string_view where = "plan");

// What the functions of the spec throw for the call is such an error, too.
Result<void> validate_call(const Call& call, const TargetSpec& spec);

// Fills dims that have one possible value and knobs that are absent with their defaults, so that
// hand-written plans may be short. Leaves what is there alone.
void complete(Plan& plan, const TargetSpec& spec);

// Is `value` one that `dim` allows (range, multiple, list)?
bool allows(const DimSpec& dim, std::int64_t value);

}  // namespace redzone
