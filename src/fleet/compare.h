// Compares how the findings of a fleet behave on several GPU models: the examinations ran each
// finding's plan, with its seeds, on all models (examine_job.h).
#pragma once

#include <vector>

#include "core/error.h"
#include "report/fleet.h"
#include "store/store.h"

namespace redzone::fleet {

// Returns a comparison for each confirmed or flaky finding that ran on several devices; findings
// that differ between devices come first. A device passes if its number of runs without a failure
// would be unlikely at the failure rate that another device shows (statistics/sequential_test.h).
Result<std::vector<report::FleetComparison>> compare_devices(store::Store& hub);

}  // namespace redzone::fleet
