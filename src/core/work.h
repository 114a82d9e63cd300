// Cost of computing a call, estimated from the spec.
#pragma once

#include "core/plan.h"

namespace redzone {

// Scalar operations of one call: the spec's own figure, or the number of tensor elements. A double,
// because the product of large dims must not overflow. Throws what the functions of the spec throw.
double work_of(const TargetSpec& spec, const Dims& dims, const Config& config);

}  // namespace redzone
