// What k failures in n runs say about the chance of a failure.
#pragma once

#include <cstdint>

namespace redzone::statistics {

struct Interval {
  double low = 0;
  double high = 1;
};

// The exact interval of C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits
// illustrated in the case of the binomial", 1934: each end is passed with a chance of at most
// (1 - confidence) / 2, for every n and every chance of a failure. That holds where n was fixed
// before the first of the runs. Counts of runs that stopped because of what they showed, or that
// include the run which selected the failure, have no such interval: reports show them as counts.
// No run says nothing: [0, 1]. Needs 0 <= k <= n and 0 < confidence < 1.
Interval exact_interval(std::int64_t k, std::int64_t n, double confidence = 0.95);

}  // namespace redzone::statistics
