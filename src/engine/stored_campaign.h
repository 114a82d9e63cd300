// A campaign on an engine, into a store.
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
  std::uint64_t seed = 0;                   // of the generators
  std::optional<Allocator> allocator = {};  // of all plans; absent: drawn for each
  std::string command = {};                 // as typed
  std::chrono::milliseconds time{0};        // 0: no limit
  std::uint64_t plans_per_target = 0;       // 0: no limit
};

struct StoredCampaign {
  CampaignRecord record;            // as it ended
  campaign::CampaignResult result;  // as it was seen
  // The findings of `result` as they are stored: of a bug that was known before, the better of both
  // plans.
  std::vector<Finding> found = {};
};

// Who wants to know how it goes on; each may be empty.
struct CampaignWatcher {
  std::function<void(const campaign::Progress&)> progress = {};  // as it is stored, twice a second
  std::function<void(const Finding&, double seconds)> found = {};  // see CampaignOptions
  std::function<void()> fuzzed = {};                               // the last trial is over
};

Result<StoredCampaign> run_campaign(Engine& engine, store::Store& store,
                                    const CampaignRequest& request, const CampaignWatcher& watcher);

}  // namespace redzone::engine
