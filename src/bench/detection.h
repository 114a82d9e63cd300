// How soon a campaign finds each puzzle's bug, and what one fault costs it.
#pragma once

#include "bench/setup.h"

namespace redzone::bench {

// For each seed and each puzzle of the device (with effort.quick a few of them) a campaign on that
// puzzle alone, until its first finding is confirmed and reduced.
Result<void> measure_all_detection(const Setup& setup, std::vector<Detection>& out);

// One of them.
Result<Detection> measure_detection(const Setup& setup, const TargetEntry& puzzle,
                                    std::uint64_t seed);

}  // namespace redzone::bench
