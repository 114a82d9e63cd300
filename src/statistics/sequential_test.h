// Does a plan fail, when what fails does not fail always? Runs are added until that is decided.
//
// The sequential probability ratio test of A. Wald, "Sequential tests of statistical hypotheses",
// 1945, between a chance of failure of at most `p0` and one of at least `p1`. Wald's
// bounds: of plans that fail with a chance of `p1` or more at most about `miss` are taken for
// passing, of those with `p0` or less at most about `false_alarm` for failing (each is at
// most its rate / (1 - the other rate), and the two together are at most their sum). In between
// either answer may come, later. The bounds of each rate hold for runs in batches of any size, and
// where the test is ended before it decides: then it is open, which is neither answer.
//
// Only counts matter, not their order, so a test goes on from counts that were stored. The runs
// stop because of what they show: their counts have no exact interval (interval.h).
#pragma once

#include <cstdint>

namespace redzone::statistics {

struct Rates {
  double p0 = 0.0025;
  double p1 = 0.5;
  double false_alarm = 0.01;
  double miss = 0.01;
};

// What to test with when the failure that is looked for has failed k of n times: p1 is the
// lower end of the exact 90% interval (k >= 1), p0 so far below it that one failure is
// decisive. Where n was fixed before, the failure is rarer than p1 with a chance of at most 5%.
Rates rates_for(std::int64_t k, std::int64_t n, double miss, double false_alarm = 0.01);

enum class Decision : std::uint8_t { open, fails, passes };

class SequentialTest {
 public:
  // 0 < p0 < p1 < 1; both error rates in (0, 0.5).
  explicit SequentialTest(const Rates& rates, std::int64_t k = 0, std::int64_t n = 0);

  void add(bool failed) { add(failed ? 1 : 0, 1); }
  void add(std::int64_t k, std::int64_t n);

  std::int64_t k() const { return k_; }
  std::int64_t n() const { return n_; }
  // Of the counts as they are: stop adding once it is not open.
  Decision decision() const;
  // Passes in a row from here until the decision is `passes`; 0 when it is.
  std::int64_t passes_to_go() const;

 private:
  double log_ratio() const;

  double per_failure_, per_pass_;  // what one run adds to the log of the ratio
  double upper_, lower_;           // where it is decided
  std::int64_t k_ = 0, n_ = 0;
};

}  // namespace redzone::statistics
