// Finds the oracle that names a failure best.
#pragma once

#include <optional>
#include <vector>

#include "campaign/stations.h"

namespace redzone::campaign {

// Direct evidence (a fault, a canary) names a bug best, so it is looked for first, under every
// placement, from the simplest launch on. Only a failure without direct evidence is compared along
// single axes. `crashed`: the screen saw a fault or a hang. `blocking_only`: compares under
// blocking launches only.
std::optional<Shown> classify(const Workshop& shop, Evaluator& evaluator,
                              const std::vector<Plan>& plans, bool crashed,
                              bool blocking_only = false);

}  // namespace redzone::campaign
