// The rules of the lazily compiled launch as knobs of a target. The generator draws correct values
// only. A plan with another value runs the launcher with that mistake, and its finding can be
// bisected to the rule.
#pragma once

#include <redzone/spec.h>

#include <vector>

#include "launcher/rules.h"

namespace redzone::lazy {

// The knobs "scratch_rule", "grid_rule", "key_rule" and "tuning_rule".
std::vector<KnobSpec> rule_knobs();

// The rules named by the knobs of a call; the others are taken from `rules`.
Rules rules_of(const Config& config, Rules rules);

}  // namespace redzone::lazy
