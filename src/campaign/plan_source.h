// Where plans come from.
#pragma once

#include "core/plan.h"

namespace redzone::campaign {

// Never ends.
class PlanSource {
 public:
  virtual ~PlanSource() = default;
  virtual Plan next() = 0;
};

}  // namespace redzone::campaign
