// Finds the dims whose larger values a budget excludes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generators/calls.h"
#include "generators/plan_generator.h"

namespace redzone::generators {

struct OutOfReach {
  std::string dim;
  std::int64_t reached = 0;  // the largest value within the budget
  std::int64_t allowed = 0;  // the largest value that the spec allows
};

// The dims whose largest values exceed the budget even when all other dims have their smallest
// nonzero values, with the default knobs. Assumes that a call with a larger dim costs more.
std::vector<OutOfReach> out_of_reach(const CallMaker& calls, const Budget& budget);

}  // namespace redzone::generators
