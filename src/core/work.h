// Cost of computing a call, estimated from the spec.
#pragma once

#include "core/plan.h"

namespace redzone {

// Scalar operations of one call: the value of the spec's work function, or the number of tensor
// elements. A double, because the product of large dims must not overflow. Throws the exceptions of
// the spec's functions.
double work_of(const TargetSpec& spec, const Dims& dims, const Config& config);

// Every trial compares a call beyond this (it takes seconds on one core) by a sample of rows, if
// the target can compute one: a finding of such a call is then confirmed in the rows that showed
// it.
inline constexpr double kMostWholeReferenceWork = 1e9;

// Whether only some rows of the reference of such a call are requested, regardless of the time
// left.
inline bool is_always_sampled(const TargetSpec& spec, double work) {
  return spec.sampled_rows > 0 && work > kMostWholeReferenceWork;
}

}  // namespace redzone
