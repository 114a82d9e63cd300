// Detects targets without a valid call, and mistakes in a spec that show in some calls only.
#pragma once

#include <redzone/spec.h>

#include <optional>
#include <string>

#include "core/error.h"
#include "core/spec_calls.h"

namespace redzone::generators {

// Why a PlanGenerator of the target could not be made, as one clause; nothing when it could: its
// constraints may exclude each other, and a shape may be none. A usage error where a function of
// the spec throws for one of a few calls that are drawn, large ones among them. With the
// `calls` of its functions, which may be slow, this looks for two seconds: what has not shown by
// then shows in the plans.
Result<std::optional<std::string>> why_no_call(const TargetSpec& spec, SpecCalls* calls = nullptr);

}  // namespace redzone::generators
