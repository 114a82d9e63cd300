// How often a plan fails, and which axis of the mode matters to it.
#pragma once

#include <vector>

#include "campaign/evaluator.h"
#include "store/finding.h"

namespace redzone::campaign {

struct Runs {
  store::Reliability reliability;
  std::vector<Answer> answers;
};

// Asks `oracle` about `plan` n times in fresh workers and counts the failures that are the same
// bug. What cannot be judged counts neither way.
Runs run_repeatedly(Evaluator& evaluator, const Oracle& oracle, const Plan& plan,
                    const Signature& signature, int n);

// Each value of each axis of the mode alone, `runs` times each. An axis that the oracle varies by
// itself is left out.
std::vector<store::AttributionRow> attribute(Evaluator& evaluator, const Oracle& oracle,
                                             const Plan& plan, const Signature& signature,
                                             int runs);

}  // namespace redzone::campaign
