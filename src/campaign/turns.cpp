// Scheduling: which target or case runs next.
#include <algorithm>
#include <cmath>
#include <limits>

#include "campaign/target_state.h"

namespace redzone::campaign {
namespace {

// The first look at a target ends with its first suspect or after this number of plans.
constexpr std::uint64_t kFirstLookPlans = 32;
// Maximum number of plans of targets that lose their workers that run at the same time: triage
// needs workers, too.
constexpr std::size_t kMostLossy = 2;
// A plan that has not been judged after this time may hang.
constexpr std::chrono::milliseconds kTakesLong{250};
// Maximum number of deferred plans per target; while that many wait for a used worker, the target
// generates no more.
constexpr std::size_t kMostDeferred = 4;
// How far a target without a prepared plan may fall behind its share.
constexpr std::chrono::duration<double, std::micro> kMostCredit{std::chrono::seconds(2)};

}  // namespace

std::uint64_t Campaign::plans_left(const TargetState& target) const {
  if (target.quarantined) return 0;
  if (options_.plans_per_target == 0) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t made = target.under_test.plans_before + target.generated;
  return options_.plans_per_target - std::min(options_.plans_per_target, made);
}

void Campaign::prepare_ahead() {
  if (options_.preparer == nullptr) return;
  options_.preparer->wait(std::chrono::milliseconds(0));
  const SpecCalls::Until end(options_.spec_calls, [this] { return is_over(); });
  double least_due = std::numeric_limits<double>::infinity();
  for (auto& target : targets_) {
    const auto begun = now();
    if (!target.plans.make_one(plans_left(target))) target.spend(now() - begun);
    if (may_make(target) && target.plans.ready()) least_due = std::min(least_due, target.due());
  }
  if (!std::isfinite(least_due)) return;
  // A target that could not run does not catch up on its share later.
  for (auto& target : targets_)
    if (may_make(target) && !target.plans.ready())
      target.spent_us =
          std::max(target.spent_us, (least_due - kMostCredit.count()) * target.under_test.weight);
}

bool Campaign::lets_others_pass(const TargetState& target) const {
  return first_look_ && (!target.groups.empty() || target.generated >= kFirstLookPlans);
}

bool Campaign::may_make(const TargetState& target) const {
  if (options_.screen_leaves_room) return plans_left(target) > 0;
  return !lets_others_pass(target) && !target.is_triaged() && plans_left(target) > 0;
}

bool Campaign::is_preparing() {
  return std::any_of(targets_.begin(), targets_.end(), [&](TargetState& target) {
    return may_make(target) && !target.plans.ready();
  });
}

bool Campaign::goes_apart(const Pending& plan) const {
  return options_.screen_leaves_room &&
         (plan.will_lose || plan.references.in_all() > ReferenceBudget::kSmallWork);
}

// Such a plan loses its worker or may occupy it for long, and triage needs workers, too.
bool Campaign::room_aside(bool will_lose) const {
  if (will_lose) return aside_losing_ < kMostLossy;
  return aside_long_ < std::max<std::size_t>(options_.triage.parallel / 2, 1);
}

bool Campaign::is_alone(const TargetState& target) const {
  return std::none_of(targets_.begin(), targets_.end(), [&](const TargetState& other) {
    return &other != &target && plans_left(other) > 0;
  });
}

// If the screen leaves room, it usually has a single worker, in which a hang delays all plans
// queued behind it. A target that hangs usually hangs in its first plan. So only one plan of a
// target is queued until the first is judged, and no further plan while one takes long: several
// hangs at a time would slow everything down. After the first plan, TargetState::losses decides.
bool Campaign::waits_for_itself(const TargetState& target) const {
  if (!options_.screen_leaves_room || target.in_warm_worker == 0 || is_alone(target)) return false;
  const auto takes_long = [&](const auto& job) {
    const Pending& plan = job.second;
    return plan.target == target.index && !plan.aside && now() - plan.submitted >= kTakesLong;
  };
  return target.stats.plans == 0 || std::any_of(pending_.begin(), pending_.end(), takes_long);
}

std::deque<Campaign::Pending>::iterator Campaign::to_resume(TargetState& target) const {
  return std::find_if(target.deferred.begin(), target.deferred.end(), [&](const Pending& plan) {
    return !goes_apart(plan) || room_aside(plan.will_lose) || is_alone(target);
  });
}

bool Campaign::may_run(TargetState& target) const {
  if (target.quarantined) return false;
  if (to_resume(target) != target.deferred.end()) return true;
  return target.deferred.size() < kMostDeferred && may_make(target) && target.plans.ready();
}

Campaign::TargetState* Campaign::next_target() {
  const auto comes_before = [&](const TargetState& a, const TargetState& b) {
    return std::pair(lets_others_pass(a), a.due()) < std::pair(lets_others_pass(b), b.due());
  };
  TargetState* best = nullptr;
  for (auto& target : targets_)
    if (may_run(target) && !waits_for_itself(target) &&
        (best == nullptr || comes_before(target, *best)))
      best = &target;
  return best;
}

double Campaign::had(const TargetState& target) const {
  return options_.screen_leaves_room ? target.triage_us / target.under_test.weight : target.due();
}

bool Campaign::may_triage(const TargetState& target) const {
  if (target.waiting.empty() || target.quarantined) return false;
  // The first case of a target shows what is wrong with it, so it may start at once.
  if (!target.triage_began) return true;
  if (!has_turns()) return true;
  return target.in_triage == 0 && (!first_look_ || options_.screen_leaves_room);
}

Campaign::TargetState* Campaign::target_to_triage() {
  const bool all_at_once = options_.screen_leaves_room || !has_turns();
  const auto comes_before = [&](const TargetState& a, const TargetState& b) {
    if (a.triage_began != b.triage_began) return b.triage_began;
    const Visit &x = a.waiting.front(), &y = b.waiting.front();
    if (!a.triage_began)  // in the order in which the suspects were seen
      return x.triaged.finding.plans_to_first < y.triaged.finding.plans_to_first;
    if (!all_at_once) return had(a) < had(b);
    return std::pair(x.turn, had(a)) < std::pair(y.turn, had(b));
  };
  TargetState* best = nullptr;
  for (auto& target : targets_)
    if (may_triage(target) && (best == nullptr || comes_before(target, *best))) best = &target;
  if (best == nullptr || !best->triage_began) return best;
  // A case at a later station waits for workers that nobody else wants, so it delays no other case.
  const Station stage = stage_of(best->waiting.front());
  const auto before = std::count_if(further_.begin(), further_.end(),
                                    [&](const auto& visit) { return stage_of(*visit) <= stage; });
  if (static_cast<std::size_t>(before) >= options_.triage.parallel) return nullptr;
  if (all_at_once) return best;
  // A target that has used more than its share waits for the others.
  const TargetState* makes = next_target();
  return makes == nullptr || best->due() <= makes->due() ? best : nullptr;
}

bool Campaign::has_turns() const {
  return options_.time.count() > 0 && targets_.size() > 1;
}

}  // namespace redzone::campaign
