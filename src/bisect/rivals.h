// Values on which a rule by class differs from other rules that fit its samples equally well: rules
// with a smaller or larger modulus, without its bounds, or with remainders instead of powers.
// Random values seldom distinguish these rules.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "bisect/boundary.h"

namespace redzone::bisect {

// Returns such values in [smallest, largest], ascending, without those that have an answer. For a
// rule of class `all` they are those that would fail if the first failing value were one of a class
// of remainders, provided that few values fail.
std::vector<std::int64_t> rivals(const DimRule& rule, const std::map<std::int64_t, bool>& fails,
                                 std::int64_t smallest, std::int64_t largest);

}  // namespace redzone::bisect
