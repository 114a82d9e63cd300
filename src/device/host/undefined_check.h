// Reports what GCC's -fsanitize=undefined finds in a plugin that was built for checks: overflows of
// signed integers, exponents of shifts, divisions, indices of arrays, and accesses that are not
// aligned as their type requires. Also in code of the host, once a kernel of the plugin has run.
#pragma once

#include "device/host/sighting_check.h"

namespace redzone::device {

class UndefinedCheck final : public SightingCheck {
 public:
  void undefined(const host::Undefined& found) override;
};

}  // namespace redzone::device
