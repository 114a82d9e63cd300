// Does a change alter the chance of a failure? Two groups of runs are compared by their counts.
#pragma once

#include <cstdint>

namespace redzone::statistics {

// Chances, if both groups fail with the same chance, of what was seen or something at least as
// extreme, given how many runs failed in all.
struct FisherExact {
  double less = 1;       // the first group has so few of the failures
  double greater = 1;    // the first group has so many of the failures
  double two_sided = 1;  // a table that is no more probable than the one that was seen
};

// The exact test of R. A. Fisher, "The logic of inductive inference", 1935, by sums of the
// hypergeometric distribution; the two-sided value is that of J. O. Irwin, "Tests of significance
// for differences between percentages based on small numbers", 1935. k1 of n1 runs of the first
// group failed and k2 of n2 of the second. Where the chances are equal, each value is at most p
// with a chance of at most p, for every n1 and n2 that were fixed before the first run. A group
// without runs says nothing: 1. Needs 0 <= k1 <= n1 and 0 <= k2 <= n2.
FisherExact fisher_exact(std::int64_t k1, std::int64_t n1, std::int64_t k2, std::int64_t n2);

}  // namespace redzone::statistics
