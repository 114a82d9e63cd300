// Stores a second failure, met while another one was triaged, as a finding of its own.
#pragma once

#include "campaign/evaluator.h"
#include "campaign/finding_sink.h"
#include "oracles/catalog.h"

namespace redzone::campaign {

// Runs the plan of a recorded suspect a few times in fresh workers and stores how often it fails
// with the recorded signature. The suspect becomes confirmed or flaky, or stays a suspect if the
// failure does not recur. The number of runs is fixed, so the counts are an unbiased sample.
// Returns errors of the sink.
Result<Finding> measure_suspect(Evaluator& evaluator, const oracles::Catalog& catalog,
                                FindingSink& sink, Finding suspect);

// Records the alarm as a finding and measures it. `found_in` gives its environment and campaign.
Result<Finding> record_alarm(Evaluator& evaluator, const oracles::Catalog& catalog,
                             FindingSink& sink, const Alarm& alarm, const Finding& found_in);

}  // namespace redzone::campaign
