// Options of a campaign that runs on an engine.
#pragma once

#include <chrono>
#include <cstdint>

#include "campaign/campaign.h"
#include "engine/engine.h"

namespace redzone::engine {

// `time` and `plans_per_target` are limits; either or both may be set; 0: no limit. The campaign
// also ends when the engine is interrupted.
campaign::CampaignOptions campaign_options(const Engine& engine, std::chrono::milliseconds time,
                                           std::uint64_t plans_per_target);

}  // namespace redzone::engine
