// Reports what GCC's -fsanitize=undefined finds in a plugin that was built for checks: signed
// integer overflows, invalid shift exponents, divisions and array indices, and accesses that are
// not aligned as their type requires. Only in kernels, because the behavior of host code depends on
// what has run before in the process.
#pragma once

#include "device/host/sighting_check.h"

namespace redzone::device {

class UndefinedCheck final : public SightingCheck {
 public:
  void undefined(const host::Undefined& found) override;
};

}  // namespace redzone::device
