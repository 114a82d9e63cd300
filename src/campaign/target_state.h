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
        stats{.target = under_test.spec->name},
        plans(std::move(under_test.source), *under_test.spec, preparer),
        references(references),
        index(i) {}

  TargetUnderTest under_test;
  TargetStats stats;
  PlansAhead plans;  // of under_test.source
  ReferenceBudget references;
  std::size_t index;
  std::uint64_t generated = 0;
  std::deque<Pending> put_off;     // made, and to be submitted later
  std::size_t in_warm_worker = 0;  // plans given to a worker of the screen and not judged yet
  // Screened plans, and those that cost their worker.
  struct Losses {
    std::uint64_t plans = 0, losses = 0;
    // True if so many do that a worker which also runs others is seldom warm.
    bool many() const { return losses > 0 && losses * kRare >= plans; }
    static constexpr std::uint64_t kRare = 64;  // plans
    // True if between canaries a fault costs about as many workers as between guard pages.
    bool most() const { return losses >= kFew && 2 * losses > plans; }
    static constexpr std::uint64_t kFew = 3;
  };
  Losses between_pages, between_canaries;
  // An exception that a target throws is a fault, too, and costs none.
  bool has_lost_workers() const { return between_pages.losses + between_canaries.losses > 0; }
  const Losses& losses(bool canaries) const { return canaries ? between_canaries : between_pages; }
  // A fault of the target was seen, and is not known to be gone: another occurrence costs a worker
  // and says little, so most plans run between wide canaries, where an access out of bounds costs
  // nothing. Some do not, for what only a guard page shows; one of them at a time waits for a
  // worker.
  bool fault_is_known = false;
  bool has_fault = false;  // one was found
  bool next_between_canaries() const {
    const bool one_waits = std::any_of(put_off.begin(), put_off.end(), [](const Pending& plan) {
      return plan.will_lose && !plan.between_canaries;
    });
    return fault_is_known && (generated % kBetweenPages != 0 || one_waits);
  }
  static constexpr std::uint64_t kBetweenPages = 8;  // one in so many plans is
  // A hang of the target was measured at the full deadline: further ones are given less time.
  bool hang_is_known = false;
  // The first plan ended as a hang by a deadline below that of a trial, which costs a worker also
  // where it is only slow.
  bool may_be_slow = false;
  bool has_hung = false;  // a plan did, as far as is known
  // Another call that hangs costs a deadline and says little, so most plans are made without those
  // that probably do.
  HungCalls hung;
  bool leaves_out_hung() const { return !hung.empty() && generated % kWithHung != 0; }
  static constexpr std::uint64_t kWithHung = 61;  // one in so many plans is not
  // Calls of a target that has not hung in so many plans are not counted: it costs time.
  bool counts_calls() const { return stats.plans < kFirstPlans || !hung.empty(); }
  static constexpr std::uint64_t kFirstPlans = 500;
  void note_slow() {
    may_be_slow = has_hung = false;
    hung.forget_hung();
    between_pages = between_canaries = {};
  }
  double spent_us = 0;
  // Time used relative to the weight; the target with the least runs next.
  double due() const { return spent_us / under_test.weight; }
  // Time used for triage while triage has its own share of the device
  // (CampaignOptions::screen_leaves_room).
  double looked_into_us = 0;
  // Plans that cost workers of triage, and what they took.
  std::uint64_t losing_aside = 0;
  std::chrono::microseconds losing_aside_took{0};
  void spend(std::chrono::steady_clock::duration time) {
    spent_us += std::chrono::duration<double, std::micro>(time).count();
    stats.device_seconds += std::chrono::duration<double>(time).count();
  }
  // Suspects with the same signature.
  struct SuspectGroup {
    std::int64_t finding = 0;
    std::uint64_t seen = 0;
    bool found = false;           // confirmed or flaky
    bool waiting = false;         // its case is not confirmed or dismissed yet
    std::int64_t unreported = 0;  // occurrences not yet reported to the sink; not `held`
    // Worth another look, and met while another was waiting; `held_as`: `seen` at that time.
    std::optional<Suspect> held = {};
    std::uint64_t held_as = 0;
    // Of the plans that failed alike after the first: one with the fewest launches, then steps,
    // then the least sum of dims, which are known without a call of the spec's functions.
    std::optional<Plan> smallest = {};
    void note(const Plan& plan);
  };
  std::map<std::string, SuspectGroup> groups;
  // Two operations by kind and name, behind the buffer that they use.
  using OrderKey = std::tuple<std::string, std::string, std::string>;
  struct OrderTries {
    std::uint64_t seen = 0;   // plans that leave the order open
    std::uint64_t tried = 0;  // those in which both orders were tried
  };
  std::map<OrderKey, OrderTries> order_tries;
  // The pairs that are to be tried in a plan that leaves these open, and count as tried.
  std::set<OrderKey> take_orders(const OrderObservation& order);
  // Outputs on which equal runs differ, with the finding that reports it: that finding explains any
  // further difference in the same output.
  std::map<std::string, std::int64_t> nondeterministic;
  std::deque<Visit> waiting;     // ordered by station
  std::deque<Visit> unfinished;  // at the end of their way, with a reduction that the time ended
  std::size_t taken_up = 0;      // visits that continue one
  std::size_t looking_into = 0;  // cases at a station
  std::size_t looking_into_hangs = 0;  // those of them that hang
  // Plans wait for cases, but not for hangs: one takes several deadlines.
  bool is_triaged() const {
    return looking_into > looking_into_hangs ||
           std::any_of(waiting.begin(), waiting.end(), [](const Visit& v) { return !v.hang; });
  }
  bool looked_into = false;  // a case has started
  bool quarantined = false;  // see CampaignOptions
};

}  // namespace redzone::campaign
