// What the findings of a fleet show on GPUs of several models: the plan of each, with its seeds,
// was run on all of them by the examinations (examine_job.h).
#pragma once

#include <vector>

#include "core/error.h"
#include "report/fleet.h"
#include "store/store.h"

namespace redzone::fleet {

// Of each confirmed or flaky finding that ran on several devices; those that differ come first. A
// device passes if so many runs without the failure had been unlikely at the rate that another one
// shows (statistics/sequential_test.h).
Result<std::vector<report::FleetComparison>> compare_devices(store::Store& hub);

}  // namespace redzone::fleet
