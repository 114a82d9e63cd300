// Plans with a call that the target refuses (Context::unsupported()). A trial ends at such a call,
// so later calls were not run and nothing was judged.
#pragma once

#include <redzone/spec.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/trial.h"

namespace redzone::campaign {

// A plan without the calls that its target refused.
struct Accepted {
  Plan plan;
  std::uint64_t refused = 0;  // calls that were left out, without repeats and replays
  std::string why;            // the target's message
};

// Leaves out the call for which a trial was refused, and all calls with the same dims, knobs and
// layouts, which are probably refused, too; see without_calls.h.
//
// Returns nothing if no call would be left, or no trial shows which call was refused. A trial that
// makes the calls in its own order always shows it. Another trial does not if it captures calls, or
// if it repeats calls of a target with inout tensors, because its observation then lacks the
// refused call.
std::optional<Accepted> without_refused_calls(const Plan& plan, const TargetSpec& spec,
                                              std::span<const TrialSpec> trials,
                                              std::span<const Observation> observations);

}  // namespace redzone::campaign
