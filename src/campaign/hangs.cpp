// What a campaign does about plans that hang: each costs a worker and a deadline.
#include <algorithm>

#include "campaign/lane.h"
#include "campaign/without_calls.h"

namespace redzone::campaign {

// If the screen leaves room, a plan that hangs slows down every other: on a GPU each wait for the
// device then takes a hundred times as long. A target that hangs usually hangs in its first plan,
// so that one is ended soon, as a suspect, and only triage, which measures hangs at the full
// deadline, says whether it hangs.
std::chrono::milliseconds Campaign::call_deadline(const Lane& lane, const Pending& plan) const {
  const bool known = lane.hang_is_known && plan.will_lose;
  const bool first = lane.stats.plans == 0 && !plan.again;
  const bool soon = known || (first && options_.screen_leaves_room);
  return soon ? hang_deadline() : options_.deadline;
}

// What only takes long would cost a worker, so within the deadline nothing is ended before it took
// as long as another worker takes to start: 25 s where each imports PyTorch, whose kernels compile
// in their first call.
std::chrono::milliseconds Campaign::hang_deadline() const {
  const auto least = std::max(options_.triage.hang_deadline, executor_.stats().latest_start);
  return std::min(options_.deadline, least);
}

void Campaign::note_slowness(Lane& lane, const exec::JobResult& result) const {
  const auto& seen = result.observations;
  const bool hung = std::any_of(seen.begin(), seen.end(),
                                [](const Observation& o) { return o.end == End::hang; });
  const auto deadline = hang_deadline();
  const bool took_long = std::any_of(seen.begin(), seen.end(), [&](const Observation& o) {
    return std::chrono::microseconds(o.wall_us) >= deadline;
  });
  lane.has_hung = lane.has_hung || hung;
  if (hung && lane.stats.plans == 0)
    lane.may_be_slow = options_.screen_leaves_room;
  else if (!hung && lane.may_be_slow && took_long)
    lane.note_slow();
}

void Campaign::note_calls(Lane& lane, const Pending& pending, std::span<const Observation> seen) {
  const auto calls = calls_of(pending.plan);
  for (const Observation& o : seen) {
    if (o.end != End::hang || !o.fault || o.fault->call < 0 || lane.may_be_slow) continue;
    const auto index = static_cast<std::size_t>(o.fault->call);
    if (index < calls.size()) lane.hung.note_hung(calls[index]->call);
  }
  const bool all_ended = std::all_of(seen.begin(), seen.end(),
                                     [](const Observation& o) { return o.end == End::completed; });
  if (!all_ended || !lane.counts_calls()) return;
  for (const CallStep* step : calls) lane.hung.note_ended(step->call);
}

void Campaign::leave_out_hung(Lane& lane, Plan& plan) {
  if (!lane.leaves_out_hung()) return;
  auto rest = without_calls(plan, [&](const Call& call) { return lane.hung.may_hang(call); });
  if (!rest) return;
  lane.stats.hung_calls += rest->left_out;
  plan = std::move(rest->plan);
}

}  // namespace redzone::campaign
