// Runs that show whether a failure recurs.
#pragma once

#include "campaign/attribution.h"
#include "campaign/stations.h"

namespace redzone::campaign {

// Runs `plan` and counts the failures with the case's signature. The first run is in a fresh
// process; where those start slowly, further ones may be in workers that have run other targets and
// not this one. If the first few runs show nothing, a larger number of further runs is made and
// counted instead. Other failures are kept in the case.
Runs run_to_confirm(const Workshop& shop, Evaluator& evaluator, Case& c, const Oracle& oracle,
                    const Plan& plan, const Signature& signature);

// Null if no run failed with `signature`.
const Answer* first_failure(const Runs& runs, const Signature& signature);

// The device's description of the fault, for people; "" without one.
std::string fault_text(const Answer& answer);

}  // namespace redzone::campaign
