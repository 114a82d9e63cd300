// How often a plan fails, and which axis of the mode matters to it.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "campaign/evaluator.h"
#include "core/finding.h"
#include "core/mode_axes.h"

namespace redzone::campaign {

struct Runs {
  Reliability reliability;
  std::vector<Answer> answers;

  // `more` came after these.
  Runs& operator+=(Runs more) {
    reliability.k += more.reliability.k;
    reliability.n += more.reliability.n;
    for (auto& answer : more.answers) answers.push_back(std::move(answer));
    return *this;
  }
};

// Asks `oracle` about `plan` n times in fresh workers and counts the failures that are the same
// bug. What cannot be judged counts neither way.
Runs run_repeatedly(Evaluator& evaluator, const Oracle& oracle, const Plan& plan,
                    const Signature& signature, int n);

struct AttributionOptions {
  // Runs of each value of each axis. Values that do not fail each time are run anew, and only the
  // second count is kept: the first one selected them.
  int first_runs = 3;
  int runs = 6;
};

// How often the plan fails with each value of each of these axes, changed alone. An axis that the
// oracle varies by itself is left out. A value that passes is run under the other launches that
// fail, too: where it fails there, a row "guard with launch gated" says so.
std::vector<AttributionRow> attribute(Evaluator& evaluator, const Oracle& oracle, const Plan& plan,
                                      const Signature& signature, std::span<const ModeAxis> axes,
                                      const AttributionOptions& options);

// Whether it takes a busy machine: `first` times with no other worker at work. Where it does not
// show in all of them, or `first` is 0, `runs` times so in all, and as often beside `parallel` - 1
// others that do the same, in turns, so that what changes meanwhile changes for both. Nothing where
// it shows always alone.
std::vector<AttributionRow> attribute_load(Evaluator& evaluator, const Oracle& oracle,
                                           const Plan& plan, const Signature& signature, int runs,
                                           int first, std::size_t parallel);

}  // namespace redzone::campaign
