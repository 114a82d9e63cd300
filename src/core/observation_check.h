// Checks whether an observation is possible for a plan. Every decoder of observations (of a
// worker's frame, of a row of a store) calls this first, so that readers of observations never see
// a call that the plan does not have.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/trial.h"

namespace redzone {

// Why no trial of a plan with `calls` calls can have produced the observation; nothing if a trial
// can have produced it. The decoder checks enumerators and texts.
std::optional<std::string> observation_problem(const Observation& observation, std::size_t calls);

}  // namespace redzone
