// What k of n runs say about the chance of a failure.
#pragma once

#include "store/finding.h"

namespace redzone::report {

struct Interval {
  double low = 0;
  double high = 1;
};

// The 95% score interval of E. B. Wilson, "Probable inference, the law of succession, and
// statistical inference", 1927. Unlike k/n ± 2 sigma it is honest for small n and for k = 0 and
// k = n. No run says nothing: [0, 1]. Needs 0 <= k <= n.
Interval wilson_interval(const store::Reliability& runs);

// Of several counts over the same time: n / seconds, 0 while no time has passed.
double per_second(std::uint64_t n, double seconds);

}  // namespace redzone::report
