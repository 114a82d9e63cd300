// Nights of the past, for the charts of a report.
#pragma once

#include <vector>

#include "nightly/facts.h"
#include "report/night.h"

namespace redzone::nightly {

// The last 60 nights, oldest first; the last is the one of the facts. What is counted of a night
// are its findings as they stood when it ended, also where only other nights saw them.
Result<std::vector<report::NightTrend>> night_trend(store::Store& store, const NightFacts& facts);

}  // namespace redzone::nightly
