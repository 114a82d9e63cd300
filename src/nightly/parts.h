// Which runs of `redzone nightly` are parts of one night, and when that night was: several runners
// may share a night.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/campaign_record.h"
#include "core/finding.h"
#include "store/night.h"

namespace redzone::nightly {

// One night: its run, or the runs of its shards that are in the store. Times are UTC, ISO 8601, so
// that their texts sort by time.
struct NightParts {
  std::vector<store::NightRun> runs;  // by shard; at least one
  std::string began;                  // of the first run
  std::string ended;                  // of the last run; "" if one was cut off
  // Everything seen up to here belongs to this night; "": everything seen since it began. Differs
  // from `ended`, which has a resolution of one second: what another night did in that second is
  // not part of this one. A night that was cut off lasted at most until the next began.
  std::string until;

  // A shard of the night of which no run has finished.
  struct OpenShard {
    int shard = 1;
    bool has_begun = false;  // a run of it is here
  };

  std::int64_t campaign() const;  // the lowest of its runs: the night's number
  // Of all its shards, unless it is one shard alone and of no fleet: then what the other runners do
  // is not known here, and only that one counts.
  std::vector<OpenShard> open_shards() const;
  bool holds(std::int64_t campaign) const;
  // True if one of these shards owns the key: the hash of a signature or the name of a plan file.
  bool owns(std::string_view key) const;
  // True if the entry existed when the night ended. An entry that a person made in the second in
  // which the night ended, and not before it began, comes after the night.
  bool covers(const LedgerEntry& entry) const;
  // True if the finding was first seen when the night had ended: times of findings have a
  // resolution of one second, within which the campaign decides.
  bool ended_before(const Finding& finding) const;
};

// Runs of one fleet are one night, whenever they began: its shards wait for nodes as long as the
// cluster has none, and one that lost its snapshot begins its night again.
//
// Other runs of different shards with the same base seed and number of shards are one night if each
// began within 20 hours of the first. A part that was cut off longer ago than this is not continued
// either (NightlyOptions::kResumeDays), and a job with the same seed every night still has separate
// nights. The clocks of the runners may differ by what that leaves.
//
// Sorted by when they ended, or began if they were cut off: the last is the latest night.
// `running`: a campaign that is running in this process, 0 for none. It is a night of its own, the
// latest, and has not ended.
std::vector<NightParts> nights_of(std::vector<store::NightRun> runs,
                                  const std::vector<CampaignRecord>& campaigns,
                                  std::int64_t running = 0);

}  // namespace redzone::nightly
