// How a campaign handles plans that hang: each costs a worker and a deadline.
#include <algorithm>

#include "campaign/target_state.h"
#include "campaign/without_calls.h"

namespace redzone::campaign {

// If the screen leaves room, a plan that hangs slows down every other plan: on a GPU each wait for
// the device then takes a hundred times as long. A target that hangs usually hangs in its first
// plan, so the first plan gets a short deadline and becomes a suspect when it expires; triage,
// which measures hangs at the full deadline, then decides whether it hangs.
std::chrono::milliseconds Campaign::call_deadline(const TargetState& target,
                                                  const Pending& plan) const {
  const bool known = target.hang_is_known && plan.will_lose;
  const bool first = target.stats.plans == 0 && !plan.again;
  const bool soon = known || (first && options_.screen_leaves_room);
  return soon ? hang_deadline() : options_.deadline;
}

// The short deadline of a plan that may hang. Ending a plan that is only slow would cost a worker,
// so it is at least the time that a worker takes to start (25 s if each imports PyTorch, whose
// kernels compile in their first call), but never more than the full deadline.
std::chrono::milliseconds Campaign::hang_deadline() const {
  const auto least = std::max(options_.triage.hang_deadline, executor_.stats().latest_start);
  return std::min(options_.deadline, least);
}

void Campaign::note_slowness(TargetState& target, const exec::JobResult& result) const {
  const auto& seen = result.observations;
  const bool hung = std::any_of(seen.begin(), seen.end(),
                                [](const Observation& o) { return o.end == End::hang; });
  const auto deadline = hang_deadline();
  const bool took_long = std::any_of(seen.begin(), seen.end(), [&](const Observation& o) {
    return std::chrono::microseconds(o.wall_us) >= deadline;
  });
  target.has_hung = target.has_hung || hung;
  if (hung && target.stats.plans == 0)
    target.may_be_slow = options_.screen_leaves_room;
  else if (!hung && target.may_be_slow && took_long)
    target.note_slow();
}

// The call that hangs is known if the trial was blocking or the device reports the running call.
// The calls before it have ended if the calls were made in the order of the plan, one after the
// other.
void Campaign::note_calls(TargetState& target, const Pending& pending,
                          std::span<const Observation> seen) {
  const bool hung = std::any_of(seen.begin(), seen.end(),
                                [](const Observation& o) { return o.end == End::hang; });
  if (!hung && !target.counts_calls()) return;
  const auto calls = calls_of(pending.plan);
  const auto note_ended = [&](std::size_t count) {
    if (!target.counts_calls()) return;
    for (std::size_t i = 0; i < count; ++i) target.hung.note_ended(calls[i]->call);
  };
  bool all_ended = true;
  for (std::size_t t = 0; t < seen.size(); ++t) {
    const Observation& o = seen[t];
    all_ended = all_ended && o.end == End::completed;
    if (o.end != End::hang || !o.fault || o.fault->call < 0 || target.may_be_slow) continue;
    const auto index = static_cast<std::size_t>(o.fault->call);
    const TrialSpec& trial = pending.trials[t];
    const bool blocking = trial.mode.launch == Launch::blocking;
    if (index >= calls.size() || !(blocking || options_.hang_names_call)) continue;
    target.hung.note_hung(calls[index]->call);
    if (blocking && trial.order.empty() && !has_graphs(pending.plan)) note_ended(index);
  }
  if (all_ended) note_ended(calls.size());
}

void Campaign::leave_out_hung(TargetState& target, Plan& plan) {
  if (!target.leaves_out_hung()) return;
  auto rest = without_calls(plan, [&](const Call& call) { return target.hung.may_hang(call); });
  if (!rest) return;
  target.stats.hung_calls += rest->left_out;
  plan = std::move(rest->plan);
}

}  // namespace redzone::campaign
