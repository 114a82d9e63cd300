// Past nights, for the charts of a report.
#pragma once

#include <vector>

#include "nightly/facts.h"
#include "report/night.h"

namespace redzone::nightly {

// The last 60 nights, oldest first; the last is that of the facts. Findings are counted with their
// state at the end of each night, even if only other nights saw them.
Result<std::vector<report::NightTrend>> night_trend(store::Store& store, const NightFacts& facts);

}  // namespace redzone::nightly
