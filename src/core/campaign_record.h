// Results of a fuzz run, as counted, shown and stored.
#pragma once

#include <cstdint>
#include <string>

#include "core/verdict.h"

namespace redzone {

struct CampaignStats {
  double seconds = 0;
  std::uint64_t plans = 0, calls = 0, trials = 0;
  std::uint64_t pass = 0, fail = 0, inconclusive = 0, not_applicable = 0, harness_errors = 0;
  std::uint64_t suspects = 0, new_findings = 0, known_findings = 0;
  std::uint64_t workers_lost = 0;
  // Counts the screened calls of targets that have a reference; zeros for campaigns that were
  // stored by versions without this count.
  ReferenceCount reference = {};

  CampaignStats& operator+=(const CampaignStats& more);
  bool operator==(const CampaignStats&) const = default;
};

struct CampaignRecord {
  std::int64_t id = 0;
  std::string uid = {};  // given by the store; the same in every store that the campaign was merged
                         // into
  std::uint64_t seed = 0;
  std::string device;
  std::string command;  // as typed
  std::string started;  // UTC, ISO 8601
  std::string ended;    // "" while the campaign runs, or if it was killed
  CampaignStats stats;
};

}  // namespace redzone
