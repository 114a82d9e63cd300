// A failure that was met where another one was looked for: stored as a finding of its own.
#pragma once

#include "campaign/evaluator.h"
#include "campaign/finding_sink.h"
#include "oracles/catalog.h"

namespace redzone::campaign {

// Runs the alarm's plan a few times in fresh workers to learn how often it fails so, and records
// the finding: confirmed, flaky, or a suspect where it does not recur. `found_in` gives its
// environment and campaign. Errors are the sink's.
Result<store::Finding> record_alarm(Evaluator& evaluator, const oracles::Catalog& catalog,
                                    FindingSink& sink, const Alarm& alarm,
                                    const store::Finding& found_in);

}  // namespace redzone::campaign
