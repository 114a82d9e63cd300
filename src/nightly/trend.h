// Past nights, for the charts of a report.
#pragma once

#include <vector>

#include "nightly/facts.h"
#include "report/night.h"

namespace redzone::nightly {

// Returns the last 60 nights, oldest first, ending with the night of `facts`. Findings are counted
// with their state at the end of each night, even if only other nights saw them.
Result<std::vector<report::NightTrend>> night_trend(store::Store& store, const NightFacts& facts);

}  // namespace redzone::nightly
