// How many runs decide whether something fails, from the counts so far: the rules of the Prober and
// of other bisections, over Wald's test (statistics/sequential_test.h).
#pragma once

#include <cstdint>

#include "bisect/prober.h"

namespace redzone::bisect {

Answer answer_of(const Counts& counts, const statistics::Rates& rates);

// Runs to make now; 0: the answer is known, or `most` runs were made.
std::int64_t wanted_runs(const Counts& counts, const statistics::Rates& rates, std::int64_t most);

// Runs of what fails to make now, until its rate is known well enough to test others: the lower end
// of its interval is at least half of the observed rate. 0: no more, or it cannot be judged.
std::int64_t calibration_runs(const Counts& counts, std::int64_t most);
// The answer after them.
Answer base_answer(const Counts& counts);

}  // namespace redzone::bisect
