// Which runs of `redzone nightly` are parts of one night, and when that was: several runners may
// share a night.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/campaign_record.h"
#include "store/night.h"

namespace redzone::nightly {

// One night: its run, or the runs of its shards that the store holds. Times are UTC, ISO 8601; such
// texts sort by time.
struct NightParts {
  std::vector<store::NightRun> runs;  // by shard; at least one
  std::string began;                  // the first of them
  std::string ended;                  // the last of them; "" where one was cut off
  // What was seen up to here is of this night; "": all that was seen since it began. Not just
  // `ended`, which is told to the second: what another night did in that second is not this one's.
  // A night that was cut off lasted until the next began at most.
  std::string until;

  std::int64_t campaign() const;  // the lowest of its runs: the night's number
  bool holds(std::int64_t campaign) const;
  // One of these shards sees to the key: the hash of a signature, the name of a plan file.
  bool owns(std::string_view key) const;
  // The entry was there when the night ended. What a person said in the second in which it ended,
  // and not before it began, is said of it, not in it.
  bool covers(const LedgerEntry& entry) const;
};

// Runs of different shards with the same base seed and the same number of shards are one night when
// each began within 20 hours of the first: a part that was cut off longer ago than this is not
// continued either (NightlyOptions::kResumeDays), and a job that has the same seed every night has
// nights of its own all the same. The clocks of the runners may differ by what that leaves.
//
// By when they ended, those that were cut off by when they began: the last is the latest night.
// `running`: a campaign that goes on in this process, 0 for none. It is a night of its own, the
// latest, and lasts still.
std::vector<NightParts> nights_of(std::vector<store::NightRun> runs,
                                  const std::vector<CampaignRecord>& campaigns,
                                  std::int64_t running = 0);

}  // namespace redzone::nightly
