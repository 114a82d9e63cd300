#include "generators/reach.h"

#include <algorithm>
#include <optional>

namespace redzone::generators {
namespace {

// The largest cost that a plan of one call may have.
Cost most_of(const Budget& budget) {
  Cost most{budget.work_per_plan, static_cast<double>(budget.bytes_per_plan)};
  if (budget.large_share > 0) {
    most.work = std::max(most.work, budget.large_work);
    most.bytes = std::max(most.bytes, static_cast<double>(budget.large_bytes));
  }
  return most;
}

// The largest value in [low, high] that the allowance permits; it must permit `low`.
std::int64_t largest_within(const CallMaker& calls, std::size_t dim, std::int64_t low,
                            std::int64_t high, const Cost& allowance) {
  const DimSpec& spec = calls.spec().dims[dim];
  if (calls.can_have(dim, high, allowance)) return high;
  while (low < high) {
    const auto middle = allowed_at_most(spec, low + (high - low + 1) / 2);
    // The spec may allow no value between `low` and the middle; then take the next value above
    // `low`.
    const auto value = middle && *middle > low ? middle : allowed_at_least(spec, low + 1);
    if (!value || *value >= high) break;
    if (calls.can_have(dim, *value, allowance))
      low = *value;
    else
      high = *value;
  }
  return low;
}

}  // namespace

std::vector<OutOfReach> out_of_reach(const CallMaker& calls, const Budget& budget) {
  std::vector<OutOfReach> out;
  const Cost allowance = most_of(budget);
  for (std::size_t d = 0; d < calls.spec().dims.size(); ++d) {
    const DimSpec& dim = calls.spec().dims[d];
    if (calls.can_have(d, largest(dim), allowance)) continue;
    const std::int64_t least = calls.least_value(d);
    const std::int64_t allowed = largest_within(calls, d, least, largest(dim), kUnlimited);
    const std::int64_t reached = largest_within(calls, d, least, allowed, allowance);
    if (reached < allowed) out.push_back({dim.name, reached, allowed});
  }
  return out;
}

}  // namespace redzone::generators
