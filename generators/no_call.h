// Targets of which no call can be made.
#pragma once

#include <redzone/spec.h>

#include <optional>
#include <string>

namespace redzone::generators {

// Why a PlanGenerator of the target could not be made, as one clause; nothing when it could: its
// constraints may exclude each other, a shape may be none, and the target's own functions may
// throw.
std::optional<std::string> why_no_call(const TargetSpec& spec);

}  // namespace redzone::generators
