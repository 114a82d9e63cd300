// Values on which a rule of classes differs from other rules that fit its samples as well: those of
// a smaller and of a larger modulus, those without its bounds, and remainders instead of powers.
// Random values seldom tell these apart.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "bisect/boundary.h"

namespace redzone::bisect {

// In [smallest, largest], ascending, and not among the answers. Empty for a rule of class `all`.
std::vector<std::int64_t> rivals(const DimRule& rule, const std::map<std::int64_t, bool>& fails,
                                 std::int64_t smallest, std::int64_t largest);

}  // namespace redzone::bisect
