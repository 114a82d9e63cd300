// Plans as a worker really ran them: in a trial's order and mode, and with what came before.
#pragma once

#include <span>

#include "core/trial.h"
#include "exec/executor.h"

namespace redzone::campaign {

// `plan` as `trial` runs it, so that running it as written is the same.
Plan as_run(const Plan& plan, const TrialSpec& trial);

// `plan` with the calls before it that its worker made to the same target: first those of the log,
// then those of the trials of `plan` that ran before. Calls beyond the limit of a plan are left out
// from the middle of the log, since state is mostly frozen by the first call or left by the last.
Plan with_history(const Plan& plan, const exec::WorkerLog& log, std::size_t log_size,
                  std::span<const Plan> earlier_trials);

}  // namespace redzone::campaign
