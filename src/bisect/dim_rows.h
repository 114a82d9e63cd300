// Completes the rows of the dims of a bisection: whether a single value or a range fails is only
// known if the neighbouring values were tried.
#pragma once

#include <span>

#include "bisect/bisect.h"

namespace redzone::bisect {

// Maximum number of values of a dim that complete_dims() probes.
inline constexpr std::size_t kBeside = 2;

// Adds to the row of each dim the values that earlier bisections have decided. If the tried values
// suggest a bound or a single passing value, also probes the values next to it. Fills Row::beside.
// `axes`: the axes of the first rows.
void complete_dims(const TargetSpec& spec, std::span<const Axis> axes, Prober& prober,
                   Bisection& out);

}  // namespace redzone::bisect
