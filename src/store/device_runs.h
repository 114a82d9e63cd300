// How often the plans of findings failed, for each device on which a bisection tested them.
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
  Reliability failed = {};  // failures with the finding's signature, out of the runs that could be
                            // judged

  bool operator==(const DeviceRuns&) const = default;
};

// Counts runs of the findings' current plans only. Ordered by finding and device.
Result<std::vector<DeviceRuns>> device_runs(Store& store);

}  // namespace redzone::store
