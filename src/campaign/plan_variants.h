// Variants of a plan with no more steps, in which a failure may show that does not show in the plan
// itself, or that shows more there.
#pragma once

#include <vector>

#include <redzone/spec.h>

#include "core/plan.h"

namespace redzone::campaign {

// The plan under the first `count` schedules of the host device.
std::vector<Plan> other_schedules(const Plan& plan, std::size_t count);

// The plan with the other placement of its buffers, and with other data: seeds 1 to 3 in all calls,
// in either placement.
std::vector<Plan> other_memory_and_data(const Plan& plan);

// Valid plans in which more buffers lie right at their guard page, with no canary between: a buffer
// does if its size is a multiple of its alignment (guard_after), and if it does not begin inside of
// its storage (guard_before). All dims rounded up, or else down, to multiples of 16, or as they
// are, then also with bases aligned to an element where the spec says nothing else; contiguous
// tensors; blocking launches. Dims grow by less than 16.
std::vector<Plan> at_guard_pages(const Plan& plan, const TargetSpec& spec, Placement placement);

}  // namespace redzone::campaign
