// Repeats changes that end the failure under other conditions. If one fails there, it passed only
// because of what the conditions were, and proves nothing about the setting that was changed.
#pragma once

#include <span>

#include "bisect/bisect.h"

namespace redzone::bisect {

// Maximum number of passing values per axis that are tried again with other data, under other
// launches, and under other schedules. Each value that passes again takes as many runs as it took
// to pass.
inline constexpr std::size_t kNearest = 2, kNearestInSchedules = 1;
// Number of launch modes and of schedules other than the failing plan's.
inline constexpr std::size_t kOtherLaunches = 2, kOtherSchedules = 3;

// Sets Tried::other_data, other_launch and other_schedule, and Row::decides_with. Of a dim, repeats
// the passing values that are nearest to the failing plan's: a bound would lie there.
// `axes`: the axes of the first rows.
void recheck_passes(const TargetSpec& spec, std::span<const Axis> axes, const AxesOptions& options,
                    Prober& prober, Bisection& out);

}  // namespace redzone::bisect
