// Completes the rows of the dims of a bisection: whether one value or a range fails is known only
// where the values next to each other were tried.
#pragma once

#include <span>

#include "bisect/bisect.h"

namespace redzone::bisect {

// Number of values of a dim that complete_dims() may ask.
inline constexpr std::size_t kBeside = 2;

// Adds to the row of each dim what is known of other values from earlier questions, and, where the
// tried values suggest a bound or a single value that passes, the values next to it. Fills
// Row::beside. `axes`: those of the first rows.
void complete_dims(const TargetSpec& spec, std::span<const Axis> axes, Prober& prober,
                   Bisection& out);

}  // namespace redzone::bisect
