// The generator of plans as RapidCheck sees it: values that shrink by simplify().
#pragma once

#include <rapidcheck/Gen.h>

#include <memory>

#include "generators/calls.h"
#include "generators/plan_generator.h"

namespace redzone::generators {

// RapidCheck's size scales the number of launches: 100 allows all that the budget does.
rc::Gen<Plan> plan_gen(std::shared_ptr<const CallMaker> calls, const Budget& budget);

}  // namespace redzone::generators
