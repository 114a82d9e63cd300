// A failure that was met where another one was looked for: stored as a finding of its own.
#pragma once

#include "campaign/evaluator.h"
#include "campaign/finding_sink.h"
#include "oracles/catalog.h"

namespace redzone::campaign {

// Measures a recorded suspect as it is: runs its plan a few times in fresh workers and stores how
// often it fails so. It becomes confirmed or flaky, or stays a suspect where it does not recur. The
// number of runs is fixed, so that the counts are a fair sample. Errors are the sink's.
Result<Finding> measure_suspect(Evaluator& evaluator, const oracles::Catalog& catalog,
                                FindingSink& sink, Finding suspect);

// Records the alarm as a finding and measures it. `found_in` gives its environment and campaign.
Result<Finding> record_alarm(Evaluator& evaluator, const oracles::Catalog& catalog,
                             FindingSink& sink, const Alarm& alarm, const Finding& found_in);

}  // namespace redzone::campaign
