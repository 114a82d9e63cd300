// The plan generator as a RapidCheck generator whose values shrink by simplify().
#pragma once

#include <rapidcheck/Gen.h>

#include <memory>

#include "generators/calls.h"
#include "generators/plan_generator.h"

namespace redzone::generators {

// RapidCheck's size scales the number of launches; 100 allows the whole budget.
rc::Gen<Plan> plan_gen(std::shared_ptr<const CallMaker> calls, const Budget& budget);

}  // namespace redzone::generators
