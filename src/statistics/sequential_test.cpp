#include "statistics/sequential_test.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "statistics/interval.h"

namespace redzone::statistics {

Rates rates_for(std::int64_t k, std::int64_t n, double miss, double false_alarm) {
  RZ_CHECK(k >= 1 && k <= n);
  Rates rates;
  rates.miss = miss;
  rates.false_alarm = false_alarm;
  rates.p1 = std::clamp(exact_interval(k, n, 0.9).low, 1e-4, 0.95);
  // One failure must raise the ratio above its upper bound.
  rates.p0 = rates.p1 * rates.false_alarm / 2;
  return rates;
}

SequentialTest::SequentialTest(const Rates& rates, std::int64_t k, std::int64_t n)
    : per_failure_(std::log(rates.p1 / rates.p0)),
      per_pass_(std::log((1 - rates.p1) / (1 - rates.p0))),
      upper_(std::log((1 - rates.miss) / rates.false_alarm)),
      lower_(std::log(rates.miss / (1 - rates.false_alarm))) {
  RZ_CHECK(rates.p0 > 0 && rates.p0 < rates.p1 && rates.p1 < 1);
  RZ_CHECK(rates.miss > 0 && rates.miss < 0.5 && rates.false_alarm > 0 && rates.false_alarm < 0.5);
  add(k, n);
}

void SequentialTest::add(std::int64_t k, std::int64_t n) {
  RZ_CHECK(k >= 0 && k <= n);
  k_ += k;
  n_ += n;
}

double SequentialTest::log_ratio() const {
  return static_cast<double>(k_) * per_failure_ + static_cast<double>(n_ - k_) * per_pass_;
}

Decision SequentialTest::decision() const {
  const double ratio = log_ratio();
  if (ratio >= upper_) return Decision::fails;
  return ratio <= lower_ ? Decision::passes : Decision::open;
}

std::int64_t SequentialTest::passes_to_go() const {
  const double above = log_ratio() - lower_;
  return above <= 0 ? 0 : static_cast<std::int64_t>(std::ceil(above / -per_pass_));
}

}  // namespace redzone::statistics
