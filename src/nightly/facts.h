// The store's data about a night, read once and indexed by number and by hash: there may be 10,000
// findings and as many replays of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/campaign_record.h"
#include "nightly/parts.h"
#include "store/night.h"

namespace redzone::nightly {

struct NightFacts {
  // The nights up to the requested one, which is last, ordered by when they ended.
  std::vector<NightParts> nights;
  std::map<std::int64_t, CampaignRecord> campaigns;
  // The findings that existed when the night ended. Their ledgers are as of then; for the latest
  // night as of now, so that its page shows what people have marked since they read it.
  std::vector<Finding> findings;
  std::map<std::int64_t, std::vector<LedgerEntry>> entries;  // by finding; sorted
  // Over all parts of the night. For a subject that two parts replayed, the replay with more runs.
  std::map<std::string, store::NightReplay> replays;  // by subject
  std::map<std::string, store::NightTarget> targets;  // by name, summed up; `share` is the mean
  std::map<std::int64_t, std::int64_t> occurrences;   // plans that showed the finding, by finding

  const NightParts& night() const { return nights.back(); }
  // Whether a plan of the night showed the finding, and it was confirmed in the night.
  bool was_found(const Finding& finding) const;
};

inline constexpr const char* kNoNight = "the store holds no night: 'redzone nightly' makes one";

// `running`: the night is running in this process, so everything in the store belongs to its time,
// and the other shards report what they did themselves. A usage error if there is no such night.
Result<NightFacts> load_night(store::Store& store, std::int64_t campaign, bool running);

}  // namespace redzone::nightly
