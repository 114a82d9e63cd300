// Whether what failed once still does.
#pragma once

#include <optional>
#include <string>

#include "campaign/run_judgement.h"
#include "core/finding.h"
#include "core/tonight.h"

namespace redzone::campaign {

struct Recheck {
  // All but found and not_run. harness_error: a run could not be judged, which is not the target's
  // fault, and none failed. unclear: too few runs passed, or the evaluator was stopped before.
  Tonight tonight = Tonight::unclear;
  Reliability failed;              // as recorded, of the runs that could be judged
  std::string reason;              // of what is neither fails, flaky nor passes
  std::optional<Verdict> failure;  // the first as recorded
  std::optional<Alarm> other;      // the first failure with another signature
  double device_seconds = 0;
};

// Passes in a row that decide that a failure is gone which showed in k of n runs before: by Wald's
// test (statistics/sequential_test.h) against the lower end of the exact interval of its rate, so
// that a failure which is still there is missed with a chance of at most about 2 %. Of a failure of
// which nothing is known (0 of 0) a few passes are enough: that is for plans which should pass.
std::int64_t passes_needed(const Reliability& before);

// Runs `plan`, each time in a fresh worker, until it fails or enough runs have passed. `oracles`:
// those of oracles_for() for a recorded failure; all of them for a plan of which nothing is known,
// where any failure counts. `passed`: runs that passed since it failed last, which count towards
// enough: a failure of one run in a hundred is not waited for in one night.
Recheck recheck(Evaluator& evaluator, std::span<const Oracle* const> oracles, const Plan& plan,
                const std::optional<Signature>& recorded, const Reliability& before,
                std::int64_t passed = 0);

}  // namespace redzone::campaign
