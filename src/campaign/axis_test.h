// Tests whether a failure depends on the setting that an oracle varies, or occurs at random.
//
// An oracle that compares trials judges the plan several times normally and equally often with
// trials that do not vary the setting. The setting is named if the normal runs fail more often by
// Fisher's exact test; over all settings compared, the chance of naming a wrong one is at most 1 %
// (Holm). If neither is shown, the answer is "undecided".
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "campaign/evaluator.h"

namespace redzone::campaign {

// An oracle and a plan on which it failed once.
struct AxisCandidate {
  // Must have trials of unvaried().
  const Oracle* oracle = nullptr;
  Plan plan;
};

struct AxisTest {
  // True if the failure was shown to depend on the setting that the candidate's oracle varies.
  std::vector<bool> depends;  // by candidate
  // Unvaried trials differed from each other: the failure occurs without a change of any setting.
  bool differs_unvaried = false;
};

// `compared`: number of oracles that judged the plan, including those that passed. `grouped`:
// whether the evaluator shares workers outside this test. The first look always shares workers
// because that is faster; if all of its unvaried runs differ, the next look shares none.
AxisTest test_axes(Evaluator& evaluator, std::span<const AxisCandidate> candidates,
                   std::size_t compared, bool grouped);

// True if trials of the candidate that do not vary its setting differ in one run.
bool differs_unvaried(Evaluator& evaluator, const AxisCandidate& candidate);

}  // namespace redzone::campaign
