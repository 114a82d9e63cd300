// Is what a plugin declares a usable TargetSpec? Asked when the target is registered.
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
// functions of the spec twice for the smallest call and, while that takes no second, for the
// largest and a few between: none may ask for a name that the spec does not declare, nor give two
// answers for the same call. One that throws something else is left for the plans to judge where
// the constraints do not allow that call.
std::optional<std::string> spec_problem(const TargetSpec& spec,
                                        const std::shared_ptr<SpecWatch>& watch = nullptr);

// Only the problems that show without calling a function of the spec: for a process that knows that
// another one has called them.
std::optional<std::string> declaration_problem(const TargetSpec& spec);

// The problem of either as a usage error: "ORIGIN: invalid spec of target 't': ...".
Result<void> check_spec(const TargetSpec& spec, std::string_view origin,
                        const std::shared_ptr<SpecWatch>& watch);
Result<void> check_declaration(const TargetSpec& spec, std::string_view origin);

}  // namespace redzone
