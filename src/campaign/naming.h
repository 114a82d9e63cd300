// Which oracle names a failure best.
#pragma once

#include <optional>
#include <vector>

#include "campaign/stations.h"

namespace redzone::campaign {

// Direct evidence (a fault, a canary) names the bug best, so it is looked for first, under every
// placement, plainest launch first. Only what shows none is compared along single axes.
// `crashed`: the screen saw a fault or a hang. With `blocking_only` comparisons are made under
// blocking launches alone.
std::optional<Shown> classify(const Workshop& shop, Evaluator& evaluator,
                              const std::vector<Plan>& plans, bool crashed,
                              bool blocking_only = false);

}  // namespace redzone::campaign
