// How soon a campaign finds each puzzle's bug, and what one fault costs it.
#pragma once

#include "bench/setup.h"

namespace redzone::bench {

// A campaign on one puzzle alone, until its first finding is confirmed and reduced.
Result<Detection> measure_detection(const Setup& setup, const TargetEntry& puzzle,
                                    std::uint64_t seed);

// The puzzles for the device, by name; with effort.quick a few of them.
std::vector<const TargetEntry*> puzzles_to_find(const Setup& setup);

}  // namespace redzone::bench
