// Whether what failed once still does.
#pragma once

#include <optional>
#include <string>

#include "campaign/evaluator.h"
#include "core/tonight.h"
#include "store/finding.h"

namespace redzone::campaign {

struct Recheck {
  Tonight tonight = Tonight::unclear;  // fails, flaky, passes, unclear or not_applicable
  store::Reliability failed;           // of the runs that could be judged
  std::string reason;                  // of unclear and not_applicable
  std::optional<Verdict> failure;      // the first that counts
  std::optional<Verdict> other;        // the first of another bug, which the plan shows as well
  double device_seconds = 0;
  bool harness_error = false;  // no run could be judged, and that is not the target's fault
};

// Runs that must pass before it is said that a failure which showed k of n times is gone: so many
// that it would have been missed with 2 %. A failure that always showed needs a few all the same.
int runs_for(const store::Reliability& before);

// Asks until the failure is seen or enough runs have passed, each in a fresh worker. `oracles`: the
// one of the finding, or all of them for a plan of which nothing is known; then, without
// `expected`, any failure counts. `passed`: runs since it failed last, which count towards enough:
// what shows once in a hundred runs is not asked for that often in one night.
Recheck recheck(Evaluator& evaluator, std::span<const Oracle* const> oracles, const Plan& plan,
                const std::optional<Signature>& expected, const store::Reliability& before,
                std::int64_t passed = 0);

}  // namespace redzone::campaign
