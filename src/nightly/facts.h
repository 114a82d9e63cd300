// What the store holds of a night, read once and found by number and by hash: there may be 10,000
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
  // The nights up to the one that is asked for, which is the last, by when they ended.
  std::vector<NightParts> nights;
  std::map<std::int64_t, CampaignRecord> campaigns;
  // Those that were there when the night ended. Their ledgers are as they were then; of the latest
  // night as they are now, so that its page shows what people marked since they read it.
  std::vector<Finding> findings;
  std::map<std::int64_t, std::vector<LedgerEntry>> entries;  // by finding; sorted
  // Of all parts of the night. Of a subject that two of them replayed, the one with more runs.
  std::map<std::string, store::NightReplay> replays;  // by subject
  std::map<std::string, store::NightTarget> targets;  // by name, summed up; `share` is the mean
  std::map<std::int64_t, std::int64_t> occurrences;   // plans that showed it, by finding

  const NightParts& night() const { return nights.back(); }
  // Seen by a plan of the night, and confirmed within it.
  bool was_found(const Finding& finding) const;
};

inline constexpr const char* kNoNight = "the store holds no night: 'redzone nightly' makes one";

// `running`: the night goes on in this process, so that all the store holds is of its time, and
// what other shards did is theirs to report. A usage error where there is no such night.
Result<NightFacts> load_night(store::Store& store, std::int64_t campaign, bool running);

}  // namespace redzone::nightly
