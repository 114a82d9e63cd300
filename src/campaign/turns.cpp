// Whose turn it is.
#include <algorithm>
#include <cmath>
#include <limits>

#include "campaign/lane.h"

namespace redzone::campaign {
namespace {

// The first look at a target ends with its first suspect or so many plans.
constexpr std::uint64_t kFirstLookPlans = 32;
// How far behind its share a target may be that could not run for want of a plan that was prepared.
constexpr std::chrono::duration<double, std::micro> kMostCredit{std::chrono::seconds(2)};

}  // namespace

std::uint64_t Campaign::plans_left(const Lane& lane) const {
  if (lane.barred) return 0;
  if (options_.plans_per_target == 0) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t made = lane.target.plans_before + lane.generated;
  return options_.plans_per_target - std::min(options_.plans_per_target, made);
}

void Campaign::look_ahead() {
  if (options_.preparer == nullptr) return;
  options_.preparer->wait(std::chrono::milliseconds(0));
  double least_due = std::numeric_limits<double>::infinity();
  for (auto& lane : lanes_) {
    const auto begun = now();
    if (!lane.plans.make_one(plans_left(lane))) lane.spend(now() - begun);
    if (may_make(lane) && lane.plans.ready()) least_due = std::min(least_due, lane.due());
  }
  if (!std::isfinite(least_due)) return;
  // Who could not run had no need of its share, and does not make up for it later.
  for (auto& lane : lanes_)
    if (may_make(lane) && !lane.plans.ready())
      lane.spent_us =
          std::max(lane.spent_us, (least_due - kMostCredit.count()) * lane.target.weight);
}

bool Campaign::may_make(const Lane& lane) const {
  const bool seen = first_look_ && (!lane.cases.empty() || lane.generated >= kFirstLookPlans);
  return !seen && plans_left(lane) > 0;
}

bool Campaign::is_preparing() {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [&](Lane& lane) { return may_make(lane) && !lane.plans.ready(); });
}

bool Campaign::first_look_holds_up() {
  return first_look_ && std::any_of(lanes_.begin(), lanes_.end(), [&](Lane& lane) {
           const bool makes = plans_left(lane) > 0 && lane.plans.ready();
           return !lane.barred && (makes || !lane.waiting.empty());
         });
}

Campaign::Lane* Campaign::next_lane() {
  Lane* best = nullptr;
  for (auto& lane : lanes_) {
    if (lane.barred) continue;
    const bool makes = may_make(lane) && lane.plans.ready();
    const bool settles = !first_look_ && !lane.waiting.empty();
    if ((makes || settles) && (best == nullptr || lane.due() < best->due())) best = &lane;
  }
  return best;
}

Campaign::Lane* Campaign::lane_to_settle() {
  if (first_look_) return nullptr;
  Lane* first = nullptr;  // in the order in which they were seen
  for (auto& lane : lanes_)
    if (!lane.waiting.empty() && !lane.looked_into && !lane.barred &&
        (first == nullptr || lane.waiting.front().finding.plans_to_first <
                                 first->waiting.front().finding.plans_to_first))
      first = &lane;
  Lane* const lane = first != nullptr ? first : next_lane();
  return lane == nullptr || lane->waiting.empty() ? nullptr : lane;
}

bool Campaign::has_turns() const {
  return options_.time.count() > 0 && lanes_.size() > 1;
}

bool Campaign::must_wait(const Lane& lane) {
  if (!has_turns()) return false;
  if (first_look_) return lane.looked_into || confirming_ > (now() - started_) / 2;
  return lane.looked_into && next_lane() != &lane;
}

}  // namespace redzone::campaign
