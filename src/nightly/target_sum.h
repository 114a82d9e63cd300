// Adds up what several parts of a night did with one target.
#pragma once

#include "campaign/campaign.h"
#include "store/night.h"

namespace redzone::nightly {

// What a campaign did with a target, as it is kept of a night; without its share.
store::NightTarget counts_of(const campaign::TargetStats& stats);

// Adds what is counted, and the first reason why a call was not compared or judged; not the share,
// nor why the target was not fuzzed.
void add_counts(store::NightTarget& sum, const store::NightTarget& more);

}  // namespace redzone::nightly
