// Does a failure depend on the setting that an oracle varies, or does it come and go by itself?
//
// An oracle that compares trials is asked several times as it is, and as often about as many trials
// without the variation. The setting is named where the first fails more often by Fisher's exact
// test; over all settings that were compared, the chance of a wrong name is at most 1 % (Holm).
// Where neither is shown the answer is "undecided".
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "campaign/evaluator.h"

namespace redzone::campaign {

// An oracle that failed on a plan, once.
struct AxisCandidate {
  const Oracle* oracle = nullptr;  // with trials of unvaried()
  Plan plan;
};

struct AxisTest {
  // Whether the failure was shown to depend on what the candidate's oracle varies.
  std::vector<bool> depends;  // by candidate
  // Unvaried trials differed from each other: the failure needs no setting to change.
  bool differs_unvaried = false;
};

// `compared`: how many oracles were asked in all, those that passed too. `grouped`: how the
// evaluator shares workers apart from this; the quick first look shares them.
AxisTest test_axes(Evaluator& evaluator, std::span<const AxisCandidate> candidates,
                   std::size_t compared, bool grouped);

}  // namespace redzone::campaign
