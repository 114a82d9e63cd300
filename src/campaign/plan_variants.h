// Other forms of a plan that are no more complex in its steps and dims, and in which a failure may
// show where it does not in the plan itself.
#pragma once

#include <vector>

#include "core/plan.h"

namespace redzone::campaign {

// Under the first `count` schedules of the host device.
std::vector<Plan> other_schedules(const Plan& plan, std::size_t count);

// With the other placement of its buffers, and with other data: each of the seeds 1 to 3 in all
// calls, in either placement.
std::vector<Plan> other_memory_and_data(const Plan& plan);

}  // namespace redzone::campaign
