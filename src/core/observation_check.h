// What an observation can say of a plan. Whoever decodes one (a worker's frame, a row of a store)
// asks here first, so that no reader of observations meets a call that the plan does not have.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/trial.h"

namespace redzone {

// Why no trial of a plan with `calls` calls can have given this; nothing when one can. Enumerators
// and text are the decoder's business.
std::optional<std::string> observation_problem(const Observation& observation, std::size_t calls);

}  // namespace redzone
