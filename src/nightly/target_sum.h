// Adds up what several parts of a night did with one target.
#pragma once

#include "campaign/campaign.h"
#include "store/night.h"

namespace redzone::nightly {

// The counts of a campaign for one target, as stored for a night; without the share.
store::NightTarget counts_of(const campaign::TargetStats& stats);

// Adds the counts, and keeps the first reason why a call was not compared or judged. Leaves the
// share and the reason why the target was not fuzzed unchanged.
void add_counts(store::NightTarget& sum, const store::NightTarget& more);

}  // namespace redzone::nightly
