// Determines which runs of `redzone nightly` are parts of one night, and when that night was:
// several runners may share a night.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/campaign_record.h"
#include "core/finding.h"
#include "store/night.h"

namespace redzone::nightly {

// One night: its single run, or the runs of its shards that are in the store. Times are UTC, ISO
// 8601, so that their texts sort by time.
struct NightParts {
  std::vector<store::NightRun> runs;  // by shard; at least one
  std::string began;                  // when the first run began
  std::string ended;                  // when the last run ended; "" if one was cut off
  // Everything seen up to this time belongs to this night; "": everything seen since it began.
  // Differs from `ended`, whose resolution is one second: actions of another night in that second
  // are not part of this one. A night that was cut off lasted at most until the next one began.
  std::string until;

  // A shard of the night without a finished run.
  struct OpenShard {
    int shard = 1;
    bool has_begun = false;  // a run of it is in the store
  };

  std::int64_t campaign() const;  // the night's number: the lowest campaign of its runs
  // The open shards of the night. If the night is a single run that belongs to no fleet, considers
  // only that run's shard, because the state of other runners is not known here.
  std::vector<OpenShard> open_shards() const;
  bool holds(std::int64_t campaign) const;
  // True if one of these shards owns the key: the hash of a signature or the name of a plan file.
  bool owns(std::string_view key) const;
  // True if the entry existed when the night ended. An entry that a person made in the second in
  // which the night ended, but after the night began, counts as later than the night.
  bool covers(const LedgerEntry& entry) const;
  // True if the finding was first seen after the night ended. Times of findings have a resolution
  // of one second; within one second, the finding's campaign decides.
  bool ended_before(const Finding& finding) const;
};

// Groups runs into nights. Runs of one fleet are one night, whenever they began: its shards wait
// for as long as the cluster has no free node, and a shard that lost its snapshot begins its night
// again.
//
// Other runs of different shards with the same base seed and number of shards are one night if each
// began within 20 hours of the first. A part that was cut off is not continued either if it began
// longer ago than this (NightlyOptions::kResumeDays), and a job that uses the same seed every night
// still has separate nights. The clocks of the runners may differ by the remaining hours.
//
// Sorted by when the nights ended, or began if they were cut off: the last is the latest night.
// `running`: a campaign that is running in this process, 0 for none. It is a night of its own, the
// latest, and has not ended.
std::vector<NightParts> nights_of(std::vector<store::NightRun> runs,
                                  const std::vector<CampaignRecord>& campaigns,
                                  std::int64_t running = 0);

}  // namespace redzone::nightly
