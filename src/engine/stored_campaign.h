// Runs a campaign on an engine and stores it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "core/campaign_record.h"
#include "engine/engine.h"
#include "store/store.h"

namespace redzone::engine {

struct CampaignRequest {
  std::vector<const TargetEntry*> targets = {};
  std::uint64_t seed = 0;                   // seed of the generators
  std::optional<Allocator> allocator = {};  // allocator of all plans; absent: drawn for each plan
  std::string command = {};                 // as typed
  std::chrono::milliseconds time{0};        // 0: no limit
  std::uint64_t plans_per_target = 0;       // 0: no limit
  std::uint64_t findings = 0;               // see CampaignOptions; 0: no limit
};

struct StoredCampaign {
  CampaignRecord record;            // final record
  campaign::CampaignResult result;  // as returned by the campaign
  // The findings of `result` as stored. For a bug known before, the store keeps the better of the
  // two plans.
  std::vector<Finding> found = {};
};

// Progress callbacks; each may be empty.
struct CampaignWatcher {
  std::function<void(const campaign::Progress&)> progress = {};    // as stored, twice a second
  std::function<void(const Finding&, double seconds)> found = {};  // see CampaignOptions
  std::function<void(std::int64_t id, std::int64_t other)> merged = {};  // see CampaignOptions
  std::function<void()> fuzzed = {};                                     // the last trial has ended
};

Result<StoredCampaign> run_campaign(Engine& engine, store::Store& store,
                                    const CampaignRequest& request, const CampaignWatcher& watcher);

}  // namespace redzone::engine
