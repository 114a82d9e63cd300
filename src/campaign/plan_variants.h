// Variants of a plan with no more steps and no larger dims, in which a failure may show that does
// not show in the plan itself.
#pragma once

#include <vector>

#include "core/plan.h"

namespace redzone::campaign {

// The plan under the first `count` schedules of the host device.
std::vector<Plan> other_schedules(const Plan& plan, std::size_t count);

// The plan with the other placement of its buffers, and with other data: seeds 1 to 3 in all calls,
// in either placement.
std::vector<Plan> other_memory_and_data(const Plan& plan);

}  // namespace redzone::campaign
