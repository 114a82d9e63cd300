// Plans that a reduction tries before the simplifier's own candidates: each may replace many steps
// of the reduction, which matters if each failure costs a worker.
#pragma once

#include <functional>
#include <vector>

#include "campaign/case.h"
#include "campaign/reducer.h"

namespace redzone::campaign {

// If a trial of the plan ended at a known call: that call alone, and the plan up to that call.
// Ignores trials that make the calls in another order. The plans may be invalid for the spec.
std::vector<Plan> around_fault(const Shown& shown);

// Extends `simplify`: plans of `first(plan)` that are valid and simpler than `plan` come before the
// other candidates. `spec` must outlive the result.
using FirstPlans = std::function<std::vector<Plan>(const Plan& plan)>;
Simplify with_first(Simplify simplify, FirstPlans first, const TargetSpec& spec);

}  // namespace redzone::campaign
