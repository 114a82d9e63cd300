// Nights of the past, for the charts of a report.
#pragma once

#include <vector>

#include "cli/night_facts.h"
#include "report/night.h"

namespace redzone::cli {

// The last 60 nights, oldest first; the last is the one of the facts. What is counted of a night
// are its findings as they stood when it ended, also where only other nights saw them.
Result<std::vector<report::NightTrend>> night_trend(store::Store& store, const NightFacts& facts);

// Of all parts of a night; nothing where one was cut off. Of several the one that asks for most:
// 3, then 1, 2, 0, 4.
std::optional<int> exit_code_of(const NightParts& night);

}  // namespace redzone::cli
