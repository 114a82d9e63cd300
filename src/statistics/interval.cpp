#include "statistics/interval.h"

#include <boost/math/distributions/binomial.hpp>

#include "core/error.h"

namespace redzone::statistics {

Interval exact_interval(std::int64_t k, std::int64_t n, double confidence) {
  RZ_CHECK(k >= 0 && k <= n && confidence > 0 && confidence < 1);
  if (n == 0) return {};
  using Binomial = boost::math::binomial_distribution<double>;
  const auto trials = static_cast<double>(n), failures = static_cast<double>(k);
  const double each_side = (1 - confidence) / 2;
  return {k == 0 ? 0.0 : Binomial::find_lower_bound_on_p(trials, failures, each_side),
          k == n ? 1.0 : Binomial::find_upper_bound_on_p(trials, failures, each_side)};
}

}  // namespace redzone::statistics
