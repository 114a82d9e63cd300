// Reports what GCC's -fsanitize=undefined finds in a plugin that was built for checks: overflows of
// signed integers, exponents of shifts, divisions, indices of arrays, and accesses that are not
// aligned as their type requires. Only in kernels: what code of the host does depends on what has
// run before in the process.
#pragma once

#include "device/host/sighting_check.h"

namespace redzone::device {

class UndefinedCheck final : public SightingCheck {
 public:
  void undefined(const host::Undefined& found) override;
};

}  // namespace redzone::device
