// How far a value of an output may be from that of the reference.
#pragma once

#include <redzone/spec.h>

#include "core/dtype.h"

namespace redzone {

// The tensor's own tolerance, or else the target's. Of the latter integers have the absolute part
// alone: the relative one, which the default has, would let an index be wrong by one.
inline Tolerance tolerance_of(const TensorSpec& tensor, DType dtype, const TargetSpec& target,
                              const Config& config) {
  if (tensor.tolerance) return *tensor.tolerance;
  Tolerance tolerance = target.tolerance_for(config);
  if (is_integer(dtype)) tolerance.rel = 0;
  return tolerance;
}

}  // namespace redzone
