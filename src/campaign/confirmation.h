// Runs that show whether a failure recurs.
#pragma once

#include "campaign/attribution.h"
#include "campaign/stations.h"

namespace redzone::campaign {

// Runs `plan` in fresh workers and counts the failures with the case's signature. The number of
// runs does not depend on their outcome; if the first few show nothing, a larger number of further
// runs is made and counted instead. Other failures are kept in the case.
Runs run_to_confirm(const Workshop& shop, Evaluator& evaluator, Case& c, const Oracle& oracle,
                    const Plan& plan, const Signature& signature);

// Null if no run failed with `signature`.
const Answer* first_failure(const Runs& runs, const Signature& signature);

// The device's description of the fault, for people; "" without one.
std::string fault_text(const Answer& answer);

}  // namespace redzone::campaign
