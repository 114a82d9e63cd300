// One target of a campaign: its plans, its turn, and the suspects that were seen of it. For the
// files of Campaign alone.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "campaign/campaign.h"
#include "campaign/plans_ahead.h"

namespace redzone::campaign {

struct Campaign::Lane {
  Lane(TargetUnderTest t, std::size_t i, Preparer* preparer, std::chrono::milliseconds references)
      : target(std::move(t)),
        stats{.target = target.spec->name, .out_of_reach = target.source->out_of_reach()},
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
  // What is left of its turn: the lane with the least has the next one.
  double due() const { return spent_us / target.weight; }
  // For having its cases looked into. Part of spent_us, unless that takes nothing from the screen.
  double looked_into_us = 0;
  void spend(std::chrono::steady_clock::duration time) {
    spent_us += std::chrono::duration<double, std::micro>(time).count();
    stats.device_seconds += std::chrono::duration<double>(time).count();
  }
  // Suspects that the screen says the same of.
  struct SuspectGroup {
    std::int64_t finding = 0;
    std::uint64_t seen = 0;
    bool found = false;           // confirmed or flaky
    bool waiting = false;         // to be confirmed, or is being confirmed
    std::int64_t unreported = 0;  // occurrences that the sink has not heard of
  };
  std::map<std::string, SuspectGroup> groups;
  // Outputs of which equal runs differ, and the finding that says so: it explains any further
  // difference that is seen there.
  std::map<std::string, std::int64_t> nondeterministic;
  std::deque<Visit> waiting;     // by station
  std::size_t looking_into = 0;  // cases that are at a station
  bool looked_into = false;      // one case was
  bool barred = false;           // see CampaignOptions
};

}  // namespace redzone::campaign
