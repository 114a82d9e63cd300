// Time until a campaign finds each puzzle's bug.
#pragma once

#include "bench/setup.h"

namespace redzone::bench {

// Runs, for each seed and each puzzle of the device (a few with effort.quick), a campaign on that
// puzzle alone until its first finding is confirmed and reduced.
Result<void> measure_all_detection(const Setup& setup, std::vector<Detection>& out);

// Runs one of these campaigns.
Result<Detection> measure_detection(const Setup& setup, const TargetEntry& puzzle,
                                    std::uint64_t seed);

}  // namespace redzone::bench
