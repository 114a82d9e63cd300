// Combines several tests of one question with the false-alarm rate of a single test.
#pragma once

#include <span>
#include <vector>

namespace redzone::statistics {

// Which hypotheses are rejected, in the order of `p_values`: the step-down procedure of S. Holm, "A
// simple sequentially rejective multiple test procedure", 1979. The smallest of m p-values is
// compared with level / m, the next with level / (m - 1), and so on until one exceeds its bound;
// the hypotheses of that p-value and of all larger ones are not rejected. The probability that any
// true hypothesis is rejected is at most `level`, whether or not the tests depend on each other.
// Needs p-values in [0, 1] and 0 < level < 1.
std::vector<bool> holm(std::span<const double> p_values, double level);

}  // namespace redzone::statistics
