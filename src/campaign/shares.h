// Divides a night's fuzzing time between targets. Pure.
#pragma once

#include <span>
#include <vector>

namespace redzone::campaign {

// One earlier night of a target.
struct PastNight {
  double device_seconds = 0;  // 0: it was not fuzzed
  int findings = 0;           // new findings and findings that came back
};

// Latest night first; empty for a new target.
using TargetPast = std::vector<PastNight>;

// Shares in the order of the targets. They sum to 1, and none is below half of an even share,
// because a target without findings for a long time may break tomorrow.
//
// The other half is divided by interest: findings per unit of time, where a night counts 0.8 times
// as much as the following night, and a target with little history is assumed to be average. The
// interest is multiplied by up to 2.75 for a target that was not fuzzed for a week. Of two
// otherwise equal targets, the one with more findings, less time or a longer wait never has the
// smaller share.
std::vector<double> fuzz_shares(std::span<const TargetPast> targets);

}  // namespace redzone::campaign
