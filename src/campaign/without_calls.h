// Plans without some of their calls.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/plan.h"

namespace redzone::campaign {

struct Shortened {
  Plan plan;
  std::uint64_t left_out = 0;  // calls, without repeats and replays
};

// Leaves out the calls for which `goes` is true. A call that is captured takes the graphs with it:
// all calls then run where they were captured, and once more at each replay. Nothing if no call
// would be left, or none goes.
std::optional<Shortened> without_calls(const Plan& plan,
                                       const std::function<bool(const Call&)>& goes);

}  // namespace redzone::campaign
