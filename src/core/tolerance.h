// The permitted difference between an output and the reference.
#pragma once

#include <redzone/spec.h>

#include "core/dtype.h"

namespace redzone {

// The tensor's own tolerance, or else the target's. Of the target's tolerance only the absolute
// part applies to integers: the relative part, which the default has, would accept an index that is
// wrong by one.
inline Tolerance tolerance_of(const TensorSpec& tensor, DType dtype, const TargetSpec& target,
                              const Config& config) {
  if (tensor.tolerance) return *tensor.tolerance;
  Tolerance tolerance = target.tolerance_for(config);
  if (is_integer(dtype)) tolerance.rel = 0;
  return tolerance;
}

}  // namespace redzone
