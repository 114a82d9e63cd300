// Checks whether a recorded failure still occurs.
#pragma once

#include <optional>
#include <string>

#include "campaign/run_judgement.h"
#include "core/finding.h"
#include "core/replay_outcome.h"

namespace redzone::campaign {

struct Recheck {
  // A replay's outcome. harness_error: a run could not be judged, through no fault of the target,
  // and none failed. unclear: too few runs passed, or the evaluator was stopped early. not_run: the
  // evaluator was stopped before any run was judged.
  ReplayOutcome outcome = ReplayOutcome::unclear;
  Reliability failed;              // runs that failed as recorded, of the runs that could be judged
  std::string reason;              // set if the outcome is neither fails, flaky nor passes
  std::optional<Verdict> failure;  // the first failure with the recorded signature
  std::optional<Alarm> other;      // the first failure with another signature
  double device_seconds = 0;
};

// Number of consecutive passes after which a failure that showed in k of n earlier runs counts as
// gone. Uses Wald's test (statistics/sequential_test.h) against the lower end of the exact interval
// of its rate, so a failure that is still there is missed with a chance of at most about 2 %. For 0
// of 0, meaning a plan that should pass, a few passes are enough.
std::int64_t passes_needed(const Reliability& before);

// Runs `plan`, each time in a fresh worker, until it fails or enough runs have passed. `oracles`:
// those of oracles_for() for a recorded failure; all oracles for a plan without a record, where any
// failure counts. `passed`: passes since the last failure, which count towards passes_needed(): a
// failure rate of 1 in 100 needs more runs than one night makes.
Recheck recheck(Evaluator& evaluator, std::span<const Oracle* const> oracles, const Plan& plan,
                const std::optional<Signature>& recorded, const Reliability& before,
                std::int64_t passed = 0);

}  // namespace redzone::campaign
