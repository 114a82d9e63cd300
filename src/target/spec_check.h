// Is what a plugin declares a usable TargetSpec? Asked once, when the target is registered.
#pragma once

#include <redzone/spec.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "target/spec_watch.h"

namespace redzone {

// The first thing wrong, as one clause ("tensor 'x' has no shape function"), or nothing. Calls the
// functions of the spec twice for the smallest call, the largest and a few between: none may ask
// for a name that the spec does not declare, nor give two answers for the same call. One that
// throws something else is left for the plans to judge where the constraints do not allow that
// call.
std::optional<std::string> spec_problem(const TargetSpec& spec,
                                        const std::shared_ptr<SpecWatch>& watch = nullptr);

// The same as a usage error: "ORIGIN: invalid spec of target 't': ...".
Result<void> check_spec(const TargetSpec& spec, std::string_view origin,
                        const std::shared_ptr<SpecWatch>& watch);

}  // namespace redzone
