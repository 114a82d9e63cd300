#include "memory_preload/guarded_trials.h"

#include <algorithm>
#include <utility>

namespace redzone::memory_preload {

Observation GuardedTrials::run(const Plan& plan, const TrialSpec& trial) {
  has_code_ = false;
  if (client_) client_->begin_trial(trial);
  Observation out = inner_.run(plan, trial);
  EndedTrial ended;
  if (client_)
    ended = client_->end_trial();
  else
    ended.counts.unguarded_trials = 1;
  if (!has_code_) {
    out.own_memory.reset();
    return out;
  }
  if (client_ || !out.own_memory) out.own_memory = ended.counts;
  for (EndedTrial::Damaged& damaged : ended.damaged) {
    // Blocks that belong to no call of this trial are reported with the first call.
    const std::int32_t of = std::max(damaged.call, std::int32_t{0});
    const auto call = std::find_if(out.calls.begin(), out.calls.end(),
                                   [&](const CallObservation& c) { return c.call == of; });
    if (call != out.calls.end()) call->buffers.push_back(std::move(damaged.block));
  }
  return out;
}

void GuardedTrials::begin_call(std::int32_t call) {
  has_code_ = true;
  if (client_) client_->begin_call(call);
}

void GuardedTrials::end_call() {
  if (client_) client_->end_call();
}

}  // namespace redzone::memory_preload
