// Variants of a plan with no more steps: a failure may show in them that shows rarely or never in
// the plan itself.
#pragma once

#include <vector>

#include <redzone/spec.h>

#include "core/plan.h"

namespace redzone::campaign {

// Returns the plan under the first `count` schedules of the host device.
std::vector<Plan> other_schedules(const Plan& plan, std::size_t count);

// Returns the plan with the other placement of its buffers, and with other data: seeds 1 to 3 in
// all calls, in both placements.
std::vector<Plan> other_memory_and_data(const Plan& plan);

// Returns valid plans in which more buffers touch their guard page, with no canary between. A
// buffer touches it if its size is a multiple of its alignment (guard_after), or if it begins at
// the start of its storage (guard_before). The variants are: all dims rounded up to multiples of
// 16, rounded down, unchanged, and unchanged with bases aligned to an element where the spec
// promises no alignment. All have contiguous tensors and blocking launches. Dims grow by less than
// 16.
std::vector<Plan> at_guard_pages(const Plan& plan, const TargetSpec& spec, Placement placement);

}  // namespace redzone::campaign
