// Plans of which the target refuses a call (Context::unsupported()). A trial ends there, so the
// calls behind it were not run, and nothing was judged.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/trial.h"

namespace redzone::campaign {

// What the target does not refuse of a plan, as far as its trials say.
struct Accepted {
  Plan plan;
  std::uint64_t refused = 0;  // calls that were left out, without repeats
  std::string why;            // the target's words
};

// Leaves out the call that a trial was refused for, and those of the same dims, knobs and layouts.
// A refused call that is captured takes the graphs with it: all calls then run where they were
// captured, and once more at each replay. Nothing if no trial says which call it was, or no call
// would be left.
std::optional<Accepted> without_refused_calls(const Plan& plan,
                                              std::span<const Observation> observations);

}  // namespace redzone::campaign
