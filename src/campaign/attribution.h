// Measures how often a plan fails, and which axes of the mode the failure depends on.
#pragma once

#include <utility>
#include <vector>

#include "campaign/evaluator.h"
#include "core/finding.h"
#include "oracles/catalog.h"

namespace redzone::campaign {

struct Runs {
  Reliability reliability;
  std::vector<Answer> answers;

  // Appends `more`, the later runs.
  Runs& operator+=(Runs more) {
    reliability.k += more.reliability.k;
    reliability.n += more.reliability.n;
    for (auto& answer : more.answers) answers.push_back(std::move(answer));
    return *this;
  }
};

// Counts the given answers of `plan` as run_repeatedly() does.
Runs as_runs(const Plan& plan, std::vector<Answer> answers, const Signature& signature);

// Runs `plan` n times in fresh workers, judges it by `oracle` and counts the failures with the same
// signature. Runs that cannot be judged are not counted.
Runs run_repeatedly(Evaluator& evaluator, const Oracle& oracle, const Plan& plan,
                    const Signature& signature, int n);

struct AttributionOptions {
  // Runs per value of each axis. Values that do not fail in every run are run again, and only the
  // second count is stored, because the first count selected them.
  int first_runs = 3;
  int runs = 6;
};

// Counts the failures of the plan with each value of each axis of the catalog; one axis is changed
// at a time, and judge_variants() judges the runs. Runs that fail differently are not counted: they
// are neither the recorded failure nor a pass. Axes that the oracle varies itself are left out. A
// value that passes is also run under the other launch modes that fail; if the plan fails there, a
// row such as "guard with launch gated" is added.
std::vector<AttributionRow> attribute(Evaluator& evaluator, const oracles::Catalog& catalog,
                                      const Oracle& oracle, const Plan& plan,
                                      const Signature& signature,
                                      const AttributionOptions& options);

// Measures whether the failure needs a busy machine. Runs the plan `first` times with no other
// worker active; if all of these runs fail, returns no rows. Otherwise (or if `first` is 0) the
// plan runs alone until `runs` runs are counted, and `runs` times in batches of up to `parallel` at
// once. The two kinds of runs alternate, so that a change of the machine affects both equally.
std::vector<AttributionRow> attribute_load(Evaluator& evaluator, const Oracle& oracle,
                                           const Plan& plan, const Signature& signature, int runs,
                                           int first, std::size_t parallel);

}  // namespace redzone::campaign
