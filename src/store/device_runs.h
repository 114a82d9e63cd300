// How often the plans of findings failed on each device on which a bisection began with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/finding.h"
#include "store/store.h"

namespace redzone::store {

struct DeviceRuns {
  std::int64_t finding = 0;
  std::string device = {};
  Reliability failed = {};  // as the finding does, of the runs that could be judged

  bool operator==(const DeviceRuns&) const = default;
};

// Of the plans that the findings have now; by finding and device, ascending.
Result<std::vector<DeviceRuns>> device_runs(Store& store);

}  // namespace redzone::store
