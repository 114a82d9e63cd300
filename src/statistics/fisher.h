// Tests whether a change alters the probability of a failure, by comparing the counts of two groups
// of runs.
#pragma once

#include <cstdint>

namespace redzone::statistics {

// Probabilities, if both groups have the same failure probability, of the observed counts or more
// extreme ones, given the total number of failures.
struct FisherExact {
  double less = 1;       // the first group has at most as many of the failures
  double greater = 1;    // the first group has at least as many of the failures
  double two_sided = 1;  // any table at most as probable as the observed one
};

// The exact test of R. A. Fisher, "The logic of inductive inference", 1935, by sums of the
// hypergeometric distribution; the two-sided value is that of J. O. Irwin, "Tests of significance
// for differences between percentages based on small numbers", 1935. k1 of n1 runs of the first
// group failed and k2 of n2 of the second. If the failure probabilities are equal, each value is at
// most p with probability at most p, for every n1 and n2 that were fixed before the first run. A
// group without runs gives 1. Needs 0 <= k1 <= n1 and 0 <= k2 <= n2.
FisherExact fisher_exact(std::int64_t k1, std::int64_t n1, std::int64_t k2, std::int64_t n2);

}  // namespace redzone::statistics
