// How many runs decide whether a plan or setting fails, given the counts so far: the rules of the
// Prober and of other bisections, based on Wald's test (statistics/sequential_test.h).
#pragma once

#include <cstdint>

#include "bisect/prober.h"

namespace redzone::bisect {

Answer answer_of(const Counts& counts, const statistics::Rates& rates);

// Number of runs to make now; 0 if the answer is decided or `most` runs were made.
std::int64_t wanted_runs(const Counts& counts, const statistics::Rates& rates, std::int64_t most);

// Number of further runs of a failing plan, until its rate is known well enough to test others: the
// lower end of the rate's interval is at least half of the observed rate. 0 if no more runs are
// needed, or the plan cannot be judged.
std::int64_t calibration_runs(const Counts& counts, std::int64_t most);
// The answer after the calibration runs.
Answer base_answer(const Counts& counts);

}  // namespace redzone::bisect
