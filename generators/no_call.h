// Targets of which no call can be made, and mistakes in a spec that show in some calls only.
#pragma once

#include <redzone/spec.h>

#include <optional>
#include <string>

#include "core/error.h"

namespace redzone::generators {

// Why a PlanGenerator of the target could not be made, as one clause; nothing when it could: its
// constraints may exclude each other, and a shape may be none. A usage error where a function of
// the spec throws for one of a few calls that are drawn, large ones among them.
Result<std::optional<std::string>> why_no_call(const TargetSpec& spec);

}  // namespace redzone::generators
