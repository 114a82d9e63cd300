// The state of one target in a campaign: its plans, the time it has used and its suspects. Private
// to the sources of Campaign.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "campaign/campaign.h"
#include "campaign/hung_calls.h"
#include "campaign/plans_ahead.h"

namespace redzone::campaign {

struct Campaign::TargetState {
  TargetState(TargetUnderTest t, std::size_t i, Preparer* preparer,
              std::chrono::milliseconds references)
      : under_test(std::move(t)),
        plans(std::move(under_test.source), *under_test.spec, preparer),
        references(references),
        index(i) {
    stats.target = under_test.spec->name;
  }

  TargetUnderTest under_test;
  TargetStats stats;
  PlansAhead plans;  // of under_test.source
  ReferenceBudget references;
  std::size_t index;
  std::uint64_t generated = 0;
  std::deque<Pending> deferred;    // generated, to be submitted later
  std::size_t in_warm_worker = 0;  // plans given to a worker of the screen and not judged yet
  // Counts of screened plans and of those that cost their worker.
  struct Losses {
    std::uint64_t plans = 0, losses = 0;
    // True if the loss rate is so high that a worker shared with other plans would seldom be warm.
    bool many() const { return losses > 0 && losses * kRare >= plans; }
    static constexpr std::uint64_t kRare = 64;  // one loss in more plans is rare
    // True if a fault with wide canaries costs about as many workers as with guard pages.
    bool most() const { return losses >= kFew && 2 * losses > plans; }
    static constexpr std::uint64_t kFew = 3;
  };
  Losses between_pages, between_canaries;
  // An exception that a target throws is also a fault, but costs no worker.
  bool has_lost_workers() const { return between_pages.losses + between_canaries.losses > 0; }
  const Losses& losses(bool canaries) const { return canaries ? between_canaries : between_pages; }
  // A fault of the target was seen and is not known to be fixed. Another occurrence costs a worker
  // and adds little, so most plans run with wide canaries, with which an access out of bounds costs
  // no worker. Some plans still run with guard pages, because some failures show only there; at
  // most one of these waits for a worker at a time.
  bool fault_is_known = false;
  bool has_fault = false;  // a fault was found
  bool next_between_canaries() const {
    const bool one_waits = std::any_of(deferred.begin(), deferred.end(), [](const Pending& plan) {
      return plan.will_lose && !plan.between_canaries;
    });
    return fault_is_known && (generated % kBetweenPages != 0 || one_waits);
  }
  static constexpr std::uint64_t kBetweenPages = 8;  // one in this many plans runs with guard pages
  // A hang of the target was measured at the full deadline: further hanging plans get less time.
  bool hang_is_known = false;
  // The first plan was ended as a hang at the short deadline (call_deadline()); the target may only
  // be slow.
  bool may_be_slow = false;
  bool has_hung = false;  // a plan hung, as far as is known
  // A further hanging call costs a deadline and adds little, so most plans are generated without
  // calls that will probably hang.
  HungCalls hung;
  bool leaves_out_hung() const { return !hung.empty() && generated % kWithHung != 0; }
  static constexpr std::uint64_t kWithHung = 61;  // one in this many plans keeps such calls
  // Calls are no longer counted once a target has run this many plans without a hang, because
  // counting costs time.
  bool counts_calls() const { return stats.plans < kFirstPlans || !hung.empty(); }
  static constexpr std::uint64_t kFirstPlans = 500;
  void note_slow() {
    may_be_slow = has_hung = false;
    hung.forget_hung();
    between_pages = between_canaries = {};
  }
  double spent_us = 0;
  // Time used relative to the weight; the target with the smallest value runs next.
  double due() const { return spent_us / under_test.weight; }
  // Time used for triage while triage has its own share of the device
  // (CampaignOptions::screen_leaves_room).
  double triage_us = 0;
  // Plans that cost workers of triage, and the time they took.
  std::uint64_t lost_in_triage = 0;
  std::chrono::microseconds lost_in_triage_took{0};
  void spend(std::chrono::steady_clock::duration time) {
    spent_us += std::chrono::duration<double, std::micro>(time).count();
    stats.device_seconds += std::chrono::duration<double>(time).count();
  }
  // Suspects with the same signature.
  struct SuspectGroup {
    std::int64_t finding = 0;
    std::uint64_t seen = 0;
    bool found = false;           // confirmed or flaky
    bool waiting = false;         // its case is neither confirmed nor dismissed yet
    std::int64_t unreported = 0;  // occurrences not yet reported to the sink; excludes `held`
    // A suspect worth triage that was seen while another one waited; `held_as`: `seen` at that
    // time.
    std::optional<Suspect> held = {};
    std::uint64_t held_as = 0;
    // The smallest of the plans that failed in the same way after the first: fewest launches, then
    // fewest steps, then the least sum of dims. These are known without a call of the spec's
    // functions.
    std::optional<Plan> smallest = {};
    void note(const Plan& plan);
  };
  std::map<std::string, SuspectGroup> groups;
  // The buffer, then the kind and name of each of two operations that use it.
  using OrderKey = std::tuple<std::string, std::string, std::string>;
  struct OrderTries {
    std::uint64_t seen = 0;   // plans that leave the order open
    std::uint64_t tried = 0;  // plans in which both orders were tried
  };
  std::map<OrderKey, OrderTries> order_tries;
  // Returns the pairs to try in a plan that leaves these pairs unordered, and counts them as tried.
  std::set<OrderKey> take_orders(const OrderObservation& order);
  // Outputs on which identical runs differ, with the id of the finding that reports this: the
  // finding explains any further difference in the same output.
  std::map<std::string, std::int64_t> nondeterministic;
  std::deque<Visit> waiting;     // ordered by station
  std::deque<Visit> unfinished;  // at their last station, with a reduction that ended for lack of
                                 // time
  std::size_t taken_up = 0;      // visits that continue an unfinished reduction
  std::size_t in_triage = 0;     // cases at a station
  std::size_t hangs_in_triage = 0;  // cases at a station that hang
  // Plans of the target wait for its cases, but not for hangs: a hang takes several deadlines.
  bool is_triaged() const {
    return in_triage > hangs_in_triage ||
           std::any_of(waiting.begin(), waiting.end(), [](const Visit& v) { return !v.hang; });
  }
  bool triage_began = false;  // a case has started
  bool quarantined = false;   // see CampaignOptions
};

}  // namespace redzone::campaign
