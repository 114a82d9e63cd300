// Detects targets without a valid call, and mistakes in a spec that show in some calls only.
#pragma once

#include <redzone/spec.h>

#include <optional>
#include <string>

#include "core/error.h"
#include "core/spec_calls.h"

namespace redzone::generators {

// Why a PlanGenerator of the target cannot be constructed, as one clause (its constraints may
// exclude each other, or a shape may be invalid); nothing if it can be. Fails with a usage error if
// a function of the spec throws for one of a few drawn calls, large ones included. With the `calls`
// of its functions, which may be slow, the search ends after two seconds with nothing.
Result<std::optional<std::string>> why_no_call(const TargetSpec& spec, SpecCalls* calls = nullptr);

}  // namespace redzone::generators
