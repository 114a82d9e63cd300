// How the time of a night's fuzzing is divided over targets. Pure.
#pragma once

#include <span>
#include <vector>

namespace redzone::campaign {

// One earlier night of a target.
struct PastNight {
  double device_seconds = 0;  // 0: it was not fuzzed
  int findings = 0;           // new ones and those that came back
};

// Latest night first; empty for a target that was never there.
using TargetPast = std::vector<PastNight>;

// A share for each target, in their order; they sum to 1, and none is below half of an even share:
// a target that has yielded nothing for long may be the one that breaks tomorrow.
//
// The other half goes by interest: findings per time, where a night counts 0.8 times as much as the
// one after it, and a target about which little is known is taken for an average one; times up to
// 2.75 for a target that has gone a week without. So of two targets that are equal in all else the
// one with more findings, or with less time, or that has waited longer, never has less.
std::vector<double> fuzz_shares(std::span<const TargetPast> targets);

}  // namespace redzone::campaign
