// The axes along which trials differ, as functions of a plan: another poison, another schedule,
// another order. Pure, so that a stored plan expands to the same trials again.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "core/plan.h"

namespace redzone::oracles {

// All ones is NaN as any floating type and -1 as an integer; the other is finite and positive.
inline constexpr std::uint32_t kNanPoison = 0xffffffffu;
inline constexpr std::uint32_t kFinitePoison = 0x3f3f3f3fu;

inline std::uint32_t other_poison(std::uint32_t poison) {
  return poison == kFinitePoison ? kNanPoison : kFinitePoison;
}

inline std::uint64_t other_schedule(std::uint64_t seed) {
  return (seed + 0x51ed) & 0x7fffffff;
}

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
