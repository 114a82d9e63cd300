// Plans as a worker actually ran them: in a trial's order and mode, after the worker's earlier
// calls.
#pragma once

#include <span>

#include "core/trial.h"
#include "exec/executor.h"

namespace redzone::campaign {

// Rewrites `plan` so that running it as written repeats what `trial` runs.
Plan as_run(const Plan& plan, const TrialSpec& trial);

// Returns `plan` preceded by the earlier calls of its worker to the same target: first those of the
// log, in each trial of its jobs, then those of the earlier trials of `plan`. Calls beyond the
// length limit of a plan are dropped from the middle, since state is mostly set by the first call
// or left by the last.
Plan with_history(const Plan& plan, const exec::WorkerLog& log, std::size_t log_size,
                  std::span<const Plan> earlier_trials);

}  // namespace redzone::campaign
