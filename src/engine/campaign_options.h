// How long a campaign runs, and how it is run on an engine.
#pragma once

#include <chrono>
#include <cstdint>

#include "campaign/campaign.h"
#include "engine/engine.h"

namespace redzone::engine {

// Of a campaign with a limit of time, of plans for each target, or of both; 0: no limit. It ends
// when the engine is interrupted.
campaign::CampaignOptions campaign_options(const Engine& engine, std::chrono::milliseconds time,
                                           std::uint64_t plans_per_target);

}  // namespace redzone::engine
