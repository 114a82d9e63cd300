// A source of plans.
#pragma once

#include <string>

#include "core/plan.h"

namespace redzone::campaign {

// An endless sequence of plans. Its functions call functions of the target's spec and throw what
// those throw.
class PlanSource {
 public:
  virtual ~PlanSource() = default;
  virtual Plan next() = 0;
  // Describes the range of the target's dims that no plan covers because it would cost too much: "N
  // above 1000 (of 4000)"; "" if there is none.
  virtual std::string out_of_reach() { return {}; }
};

}  // namespace redzone::campaign
