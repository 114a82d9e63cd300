// Runs that show whether a failure recurs.
#pragma once

#include "campaign/attribution.h"
#include "campaign/stations.h"

namespace redzone::campaign {

// Runs `plan` and counts the failures with `signature`. The number of runs does not depend on their
// outcome; if the first few show no failure, a larger number of further runs is made and counted
// instead. Other failures are stored in the case.
//
// All runs are in fresh workers if these start fast. Otherwise only the first is, and the others
// may be in workers that have not run the target. `fresh`: earlier answers from fresh workers,
// which count as the first runs.
Runs run_to_confirm(const Workshop& shop, Evaluator& evaluator, Case& c, const Oracle& oracle,
                    const Plan& plan, const Signature& signature, std::vector<Answer> fresh = {});

// Like run_repeatedly(), with the first run in a fresh worker and the others in workers that
// TriageOptions::in_new_workers() allows.
Runs run_in_new_workers(const Workshop& shop, Evaluator& evaluator, const Oracle& oracle,
                        const Plan& plan, const Signature& signature, int n);

// Null if no run failed with `signature`.
const Answer* first_failure(const Runs& runs, const Signature& signature);

// The device's description of the first fault, for people; "" if there is none.
std::string fault_text(const Answer& answer);

}  // namespace redzone::campaign
