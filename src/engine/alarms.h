// Stores a failure that a command met while it reran a stored finding.
#pragma once

#include "campaign/evaluator.h"
#include "engine/site.h"
#include "store/store.h"

namespace redzone::engine {

// Measures `alarm` and stores it as a separate finding that belongs to no campaign.
Result<Finding> store_alarm(store::Store& store, const Site& site, campaign::Evaluator& evaluator,
                            const campaign::Alarm& alarm, const TargetEntry& entry);

}  // namespace redzone::engine
