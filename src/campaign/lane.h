// One target of a campaign: its plans, its turn and its suspects. Private to the sources of
// Campaign.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "campaign/campaign.h"
#include "campaign/plans_ahead.h"

namespace redzone::campaign {

struct Campaign::Lane {
  Lane(TargetUnderTest t, std::size_t i, Preparer* preparer, std::chrono::milliseconds references)
      : target(std::move(t)),
        stats{.target = target.spec->name},
        plans(std::move(target.source), *target.spec, preparer),
        references(references),
        index(i) {}

  TargetUnderTest target;
  TargetStats stats;
  PlansAhead plans;  // of target.source
  ReferenceBudget references;
  std::size_t index;
  std::uint64_t generated = 0;
  double spent_us = 0;
  // Time used relative to the weight; the lane with the least runs next.
  double due() const { return spent_us / target.weight; }
  // Time used for triage. Part of spent_us, unless triage takes nothing from the screen.
  double looked_into_us = 0;
  void spend(std::chrono::steady_clock::duration time) {
    spent_us += std::chrono::duration<double, std::micro>(time).count();
    stats.device_seconds += std::chrono::duration<double>(time).count();
  }
  // Suspects for which the screen reports the same failure.
  struct SuspectGroup {
    std::int64_t finding = 0;
    std::uint64_t seen = 0;
    std::uint64_t next_look =
        4;                 // once `seen` is that high another of a found group is looked into
    bool found = false;    // confirmed or flaky
    bool waiting = false;  // waits for confirmation or is being confirmed
    std::optional<Suspect> latest;  // that came while `waiting`
    std::int64_t unreported = 0;    // occurrences not yet reported to the sink
  };
  std::map<std::string, SuspectGroup> groups;
  // Outputs on which equal runs differ, with the finding that reports it: that finding explains any
  // further difference in the same output.
  std::map<std::string, std::int64_t> nondeterministic;
  std::deque<Visit> waiting;     // ordered by station
  std::size_t looking_into = 0;  // cases at a station
  bool looked_into = false;      // a case has started
  bool barred = false;           // see CampaignOptions
};

}  // namespace redzone::campaign
