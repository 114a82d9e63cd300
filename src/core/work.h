// Cost of computing a call, estimated from the spec.
#pragma once

#include "core/plan.h"

namespace redzone {

// Scalar operations of one call: the spec's own figure, or the number of tensor elements. A double,
// because the product of large dims must not overflow. Throws what the functions of the spec throw.
double work_of(const TargetSpec& spec, const Dims& dims, const Config& config);

// A call beyond this (seconds on one core) is compared in a sample of rows by every trial, if the
// target can compute one: a finding of such a call is then confirmed in the rows that showed it.
inline constexpr double kMostWholeReferenceWork = 1e9;

// Whether the reference of such a call is asked for some rows only, whatever time there is.
inline bool is_always_sampled(const TargetSpec& spec, double work) {
  return spec.sampled_rows > 0 && work > kMostWholeReferenceWork;
}

}  // namespace redzone
