// Orders in which the calls of a plan run. Pure functions, so a stored plan always expands to the
// same trials.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "core/plan.h"

namespace redzone::oracles {

inline std::vector<std::uint32_t> written_order(const Plan& plan) {
  std::vector<std::uint32_t> order(calls_of(plan).size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  return order;
}

inline std::vector<std::uint32_t> reversed_order(const Plan& plan) {
  const auto n = static_cast<std::uint32_t>(calls_of(plan).size());
  std::vector<std::uint32_t> order(n);
  for (std::uint32_t i = 0; i < n; ++i) order[i] = n - 1 - i;
  return order;
}

}  // namespace redzone::oracles
