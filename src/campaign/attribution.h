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

// The same, at least n times. A failure that does not show in every run is run on until its rate is
// known: until the lower end of its 90% interval is half of what was seen, or `most` runs are made.
Runs run_until_known(Evaluator& evaluator, const Oracle& oracle, const Plan& plan,
                     const Signature& signature, int n, int most);

// Each value of each axis of the mode alone, `runs` times each. An axis that the oracle varies by
// itself is left out.
std::vector<store::AttributionRow> attribute(Evaluator& evaluator, const Oracle& oracle,
                                             const Plan& plan, const Signature& signature,
                                             int runs);

// Whether it takes a busy machine: `first` times with no other worker at work. Where it does not
// show in all of them, `runs` times so in all, and as often beside `parallel` - 1 others that do
// the same, in turns, so that what changes meanwhile changes for both. Nothing where it shows
// always alone.
std::vector<store::AttributionRow> attribute_load(Evaluator& evaluator, const Oracle& oracle,
                                                  const Plan& plan, const Signature& signature,
                                                  int runs, int first, std::size_t parallel);

}  // namespace redzone::campaign
