#include "statistics/holm.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"

namespace redzone::statistics {

std::vector<bool> holm(std::span<const double> p_values, double level) {
  RZ_CHECK(level > 0 && level < 1);
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<bool> rejected(p_values.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double p = p_values[order[i]];
    RZ_CHECK(p >= 0 && p <= 1);
    if (p > level / static_cast<double>(order.size() - i)) break;
    rejected[order[i]] = true;
  }
  return rejected;
}

}  // namespace redzone::statistics
