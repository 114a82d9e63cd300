#include "report/statistics.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace redzone::report {

Interval wilson_interval(const store::Reliability& runs) {
  RZ_CHECK(runs.k >= 0 && runs.k <= runs.n);
  if (runs.n == 0) return {};
  constexpr double z = 1.959963984540054;  // the 97.5% quantile of the normal distribution
  const double n = static_cast<double>(runs.n);
  const double p = static_cast<double>(runs.k) / n;
  const double scale = 1 + z * z / n;
  const double centre = (p + z * z / (2 * n)) / scale;
  const double half = z / scale * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  // At the ends the formula gives exactly 0 or 1; rounding must not.
  return {runs.k == 0 ? 0.0 : std::max(0.0, centre - half),
          runs.k == runs.n ? 1.0 : std::min(1.0, centre + half)};
}

double per_second(std::uint64_t n, double seconds) {
  return seconds > 0 ? static_cast<double>(n) / seconds : 0;
}

}  // namespace redzone::report
