// Stores a failure that a command met while it ran a stored finding again.
#pragma once

#include "campaign/evaluator.h"
#include "cli/session.h"

namespace redzone::cli {

// Measures `alarm` and stores it as a finding of its own in the store of --db; its number. It
// belongs to no campaign.
Result<std::int64_t> store_alarm(const po::variables_map& flags, Session& session,
                                 campaign::Evaluator& evaluator, const campaign::Alarm& alarm,
                                 const TargetEntry& entry);

}  // namespace redzone::cli
