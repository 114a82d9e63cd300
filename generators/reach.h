// Which dims a budget keeps small.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generators/calls.h"
#include "generators/plan_generator.h"

namespace redzone::generators {

struct OutOfReach {
  std::string dim;
  std::int64_t reached = 0;  // its largest value that the budget has room for
  std::int64_t allowed = 0;  // its largest value that the spec allows
};

// The dims of which the budget leaves the upper end out even where all others are as small as the
// spec lets them be, and not 0; under the default knobs. Takes for granted that a call with a
// larger dim costs more.
std::vector<OutOfReach> out_of_reach(const CallMaker& calls, const Budget& budget);

}  // namespace redzone::generators
