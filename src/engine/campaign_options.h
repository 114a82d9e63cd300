// The options of a campaign on an engine.
#pragma once

#include <chrono>
#include <cstdint>

#include "campaign/campaign.h"
#include "engine/engine.h"

namespace redzone::engine {

// `time` and `plans` (for each target) are limits, either or both; 0: no limit. The campaign also
// ends when the engine is interrupted.
campaign::CampaignOptions campaign_options(const Engine& engine, std::chrono::milliseconds time,
                                           std::uint64_t plans_per_target);

}  // namespace redzone::engine
