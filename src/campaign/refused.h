// Plans of which the target refuses a call (Context::unsupported()). A trial ends there, so the
// calls behind it were not run, and nothing was judged.
#pragma once

#include <redzone/spec.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/trial.h"

namespace redzone::campaign {

// What is left of a plan without a call that its target refused.
struct Accepted {
  Plan plan;
  std::uint64_t refused = 0;  // calls that were left out, without repeats and replays
  std::string why;            // the target's words
};

// Leaves out the call that a trial was refused for, and those of the same dims, knobs and layouts,
// which are probably refused, too; see without_calls.h.
//
// Nothing if no call would be left, or no trial says which call was refused. A trial that makes the
// calls in an order of its own always does; another one does not if it captures calls, or if it
// repeats calls of a target with inout tensors, because its observation lacks the refused one then.
std::optional<Accepted> without_refused_calls(const Plan& plan, const TargetSpec& spec,
                                              std::span<const TrialSpec> trials,
                                              std::span<const Observation> observations);

}  // namespace redzone::campaign
