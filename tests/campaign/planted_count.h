// How many bugs the self-proof plants; follows the catalog of oracles.
#pragma once

#include <algorithm>

#include "campaign/planted.h"
#include "campaign/self_proof.h"

namespace redzone::campaign::testing {

inline std::size_t planted_count(bool seeded_schedules) {
  const auto planted = planted_bugs(SelfProofOptions().allocators, seeded_schedules);
  return static_cast<std::size_t>(
      std::count_if(planted.begin(), planted.end(), [](const auto& p) { return p.kind; }));
}

}  // namespace redzone::campaign::testing
