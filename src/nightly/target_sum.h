// Adds up the results of several parts of a night for one target.
#pragma once

#include "campaign/campaign.h"
#include "store/night.h"

namespace redzone::nightly {

// Converts a campaign's counts for one target to the stored form; does not set the share.
store::NightTarget counts_of(const campaign::TargetStats& stats);

// Adds the counts, and keeps the first reason why a call was not compared or judged. Leaves the
// share and the reason why the target was not fuzzed unchanged.
void add_counts(store::NightTarget& sum, const store::NightTarget& more);

}  // namespace redzone::nightly
