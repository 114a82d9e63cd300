// Runs that show whether a failure recurs.
#pragma once

#include "campaign/attribution.h"
#include "campaign/stations.h"

namespace redzone::campaign {

// How often `plan` fails so in fresh workers, in a number of runs that does not depend on what they
// show; where the first few show nothing, in a larger number of other ones. Other failures that are
// met are kept in the case.
Runs run_to_confirm(const Workshop& shop, Evaluator& evaluator, Case& c, const Oracle& oracle,
                    const Plan& plan, const Signature& signature);

// Null where none of the runs failed so.
const Answer* first_failure(const Runs& runs, const Signature& signature);

// What the device says of the fault, for people; "" without one.
std::string fault_text(const Answer& answer);

}  // namespace redzone::campaign
