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

// A write beside a buffer shows in a canary where the buffer does not end at its guard page, and as
// a fault where it does: which one depends on the shape, and both are one bug. Returns the fault in
// a plan like that of the canary, if the write has the same buffer and side there: it also names
// the kernel.
std::optional<Shown> as_fault(const Workshop& shop, Evaluator& evaluator, const Shown& canary);

// Memory that was used after its free, in one schedule, a fault, or a dependence on launches that
// the host waits for: returns the failure of the oracle that forces both orders of two operations
// on that memory, of two of which one order faults so, or of two that decide about the outputs of
// that call, if nothing orders them. It says which two they are, and fails under any schedule.
std::optional<Shown> as_order(const Workshop& shop, Evaluator& evaluator, const Shown& seen);

}  // namespace redzone::campaign
