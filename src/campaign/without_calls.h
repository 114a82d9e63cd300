// Plans with some of their calls removed.
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

// Removes the calls for which `goes` is true. If a removed call is captured, the plan loses its
// graphs: all calls then run where they were captured, and once more at each replay. Returns
// nothing if no call would be left, or none is removed.
std::optional<Shortened> without_calls(const Plan& plan,
                                       const std::function<bool(const Call&)>& goes);

}  // namespace redzone::campaign
