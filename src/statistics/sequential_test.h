// Decides whether a plan fails, for failures that occur only in some runs. Runs are added until the
// test decides.
//
// The sequential probability ratio test of A. Wald, "Sequential tests of statistical hypotheses",
// 1945, between a failure probability of at most `p0` and one of at least `p1`. Wald's bounds: of
// plans with failure probability `p1` or more, at most about `miss` are judged as passing; of plans
// with `p0` or less, at most about `false_alarm` as failing (each error rate is at most its
// parameter / (1 - the other parameter), and the sum of both is at most the sum of the parameters).
// Between p0 and p1 either decision may occur, after more runs. The bounds hold for runs in batches
// of any size, and if the test is stopped early: it is then open, which is neither decision.
//
// Only counts matter, not their order, so a test can continue from stored counts. The number of
// runs depends on their results: such counts have no exact interval (interval.h).
#pragma once

#include <cstdint>

namespace redzone::statistics {

struct Rates {
  double p0 = 0.0025;
  double p1 = 0.5;
  double false_alarm = 0.01;
  double miss = 0.01;
};

// Rates for a failure that was seen in k of n runs: p1 is the lower end of the exact 90% interval
// (k >= 1), within [0.0001, 0.95]; p0 is so far below p1 that one failure is decisive. If n was
// fixed in advance, the failure probability is below p1 with probability at most 5%.
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
  // The decision for the current counts: stop adding runs when it is not `open`.
  Decision decision() const;
  // Natural logarithm of the likelihood of the counts at p1 over that at p0.
  double log_ratio() const;
  // Number of consecutive passes until the decision is `passes`; 0 if it is `passes` already.
  std::int64_t passes_to_go() const;

 private:
  double per_failure_, per_pass_;  // contribution of one run to the log of the ratio
  double upper_, lower_;           // bounds of the ratio's log at which the test decides
  std::int64_t k_ = 0, n_ = 0;
};

}  // namespace redzone::statistics
