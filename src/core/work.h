// What a call costs to compute, as far as the spec says.
#pragma once

#include "core/plan.h"

namespace redzone {

// Scalar operations of one call: the spec's own figure, or the number of tensor elements. A double:
// the product of large dims must not overflow. Throws what the functions of the spec throw.
double work_of(const TargetSpec& spec, const Dims& dims, const Config& config);

}  // namespace redzone
