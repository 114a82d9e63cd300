// Confidence interval for the probability of a failure from k failures in n runs.
#pragma once

#include <cstdint>

namespace redzone::statistics {

struct Interval {
  double low = 0;
  double high = 1;
};

// The exact interval of C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits
// illustrated in the case of the binomial", 1934: the true probability lies beyond each end with
// probability at most (1 - confidence) / 2, for every n and every failure probability. Valid only
// if n was fixed before the first run. Counts of runs that stopped because of their results, or
// that include the run which selected the failure, have no such interval: reports show them as
// counts. No runs: [0, 1]. Needs 0 <= k <= n and 0 < confidence < 1.
Interval exact_interval(std::int64_t k, std::int64_t n, double confidence = 0.95);

}  // namespace redzone::statistics
