// The store's data about a night, read once and indexed by number and by hash: there may be 10,000
// findings and as many replays.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/campaign_record.h"
#include "nightly/parts.h"
#include "store/night.h"

namespace redzone::nightly {

struct NightFacts {
  // The nights up to and including the requested one, ordered by when they ended.
  std::vector<NightParts> nights;
  std::map<std::int64_t, CampaignRecord> campaigns;
  // The findings that existed when the night ended. Their ledgers have their state at that time;
  // for the latest night their current state, so that its page shows marks that people have made
  // since.
  std::vector<Finding> findings;
  std::map<std::int64_t, std::vector<LedgerEntry>> entries;  // by finding; sorted
  // Replays in all parts of the night. If two parts replayed a subject, the replay with more runs.
  std::map<std::string, store::NightReplay> replays;  // by subject
  std::map<std::string, store::NightTarget> targets;  // by name, summed up; `share` is the mean
  std::map<std::int64_t, std::int64_t> occurrences;   // by finding: number of plans that showed it

  const NightParts& night() const { return nights.back(); }
  // True if a plan of the night showed the finding and the finding was confirmed in that night.
  bool was_found(const Finding& finding) const;
};

inline constexpr const char* kNoNight = "the store holds no night: 'redzone nightly' makes one";

// `running`: the night is running in this process, so everything in the store belongs to its time,
// and the other shards report their own results. Returns a usage error if there is no such night.
Result<NightFacts> load_night(store::Store& store, std::int64_t campaign, bool running);

}  // namespace redzone::nightly
