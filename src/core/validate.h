// Checks whether a plan fits a target. Required for every plan that Redzone's generator did not
// create.
#pragma once

#include "core/error.h"
#include "core/plan.h"

namespace redzone {

// Returns the first problem as a usage error that names the step, the dim or knob, its value and
// the allowed values. `where` starts the message.
Result<void> validate(const Plan& plan, const TargetSpec& spec, std::string_view where = "plan");

// Like validate(), for one call. Exceptions of the spec's functions become usage errors, too.
Result<void> validate_call(const Call& call, const TargetSpec& spec);

// Sets absent dims that have one possible value, and absent knobs to their defaults, so that
// hand-written plans may be short. Existing values are kept.
void complete(Plan& plan, const TargetSpec& spec);

// Whether `dim` allows `value` (range, multiple, list).
bool allows(const DimSpec& dim, std::int64_t value);

}  // namespace redzone
