#include "statistics/fisher.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"

namespace redzone::statistics {
namespace {

// Tolerance, so that equally probable tables compare as equal despite rounding.
constexpr double kEqual = 1 + 1e-7;

// The distribution of the number x of failures in the first group, if k of n1 + n2 runs failed: the
// probability of each x relative to the most probable one, from the smallest possible x on.
struct Tables {
  std::int64_t first = 0;  // the smallest x
  std::vector<double> weights;
  double sum = 0;
};

// Weight of x + 1 divided by that of x.
double step(std::int64_t x, std::int64_t k, std::int64_t n1, std::int64_t n2) {
  return static_cast<double>(k - x) * static_cast<double>(n1 - x) /
         (static_cast<double>(x + 1) * static_cast<double>(n2 - k + x + 1));
}

Tables tables(std::int64_t k, std::int64_t n1, std::int64_t n2) {
  Tables out;
  out.first = std::max<std::int64_t>(0, k - n2);
  const std::int64_t last = std::min(k, n1);
  out.weights.resize(static_cast<std::size_t>(last - out.first + 1));
  const auto at = [&](std::int64_t x) -> double& {
    return out.weights[static_cast<std::size_t>(x - out.first)];
  };
  // Computed from the most probable value to both sides, so that nothing overflows and only
  // improbable terms underflow.
  const auto likeliest = static_cast<std::int64_t>(std::floor(
      static_cast<double>(k + 1) * static_cast<double>(n1 + 1) / static_cast<double>(n1 + n2 + 2)));
  const std::int64_t mode = std::clamp(likeliest, out.first, last);
  at(mode) = 1;
  for (std::int64_t x = mode; x < last; ++x) at(x + 1) = at(x) * step(x, k, n1, n2);
  for (std::int64_t x = mode; x > out.first; --x) at(x - 1) = at(x) / step(x - 1, k, n1, n2);
  for (const double weight : out.weights) out.sum += weight;
  return out;
}

}  // namespace

FisherExact fisher_exact(std::int64_t k1, std::int64_t n1, std::int64_t k2, std::int64_t n2) {
  RZ_CHECK(k1 >= 0 && k1 <= n1 && k2 >= 0 && k2 <= n2);
  const Tables all = tables(k1 + k2, n1, n2);
  const auto seen = static_cast<std::size_t>(k1 - all.first);
  double less = 0, greater = 0, as_rare = 0;
  for (std::size_t i = 0; i < all.weights.size(); ++i) {
    const double weight = all.weights[i];
    if (i <= seen) less += weight;
    if (i >= seen) greater += weight;
    if (weight <= all.weights[seen] * kEqual) as_rare += weight;
  }
  const auto chance = [&](double weight) { return std::min(1.0, weight / all.sum); };
  return {chance(less), chance(greater), chance(as_rare)};
}

}  // namespace redzone::statistics
