// Finds the oracle that names a failure best.
#pragma once

#include <optional>
#include <vector>

#include "campaign/stations.h"

namespace redzone::campaign {

// Direct evidence (a fault, a canary) names a bug best, so it is looked for first, under every
// placement, starting with the simplest launch mode. A failure without direct evidence is compared
// along single axes. `crashed`: the screen saw a fault or a hang. `blocking_only`: compares under
// blocking launches only.
std::optional<Shown> classify(const Workshop& shop, Evaluator& evaluator,
                              const std::vector<Plan>& plans, bool crashed,
                              bool blocking_only = false);

// A write out of bounds changes a canary if the buffer does not end at its guard page, and faults
// if it does: which of the two happens depends on the shape, and both are one bug. Returns the
// fault in a plan similar to `canary`'s, if that write has the same buffer and side: a fault also
// names the kernel.
std::optional<Shown> as_fault(const Workshop& shop, Evaluator& evaluator, const Shown& canary);

// For a use after free in one schedule, a fault, or a dependence on blocking launches: runs the
// oracle that forces both orders of two unordered operations. Returns its failure if it explains
// `seen`: the operations use the same memory (use after free), one order faults in the same way
// (fault), or they decide about the outputs of the same call (launches). That failure names the two
// operations and shows under any schedule.
std::optional<Shown> as_order(const Workshop& shop, Evaluator& evaluator, const Shown& seen);

}  // namespace redzone::campaign
