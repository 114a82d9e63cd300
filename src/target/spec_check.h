// Checks whether a plugin declares a usable TargetSpec, when the target is registered.
#pragma once

#include <redzone/spec.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "target/spec_watch.h"

namespace redzone {

// The first problem, as one clause ("tensor 'x' has no shape function"), or nullopt. Calls the
// functions of the spec twice for the smallest call and, within one second, for the largest and a
// few between. No function may use a name that the spec does not declare, or return two results for
// the same call. Other exceptions are a problem only if the constraints allow the call; otherwise
// plans report them.
std::optional<std::string> spec_problem(const TargetSpec& spec,
                                        const std::shared_ptr<SpecWatch>& watch = nullptr);

// The problems that can be found without calling a function of the spec: for a process that relies
// on another process having called them.
std::optional<std::string> declaration_problem(const TargetSpec& spec);

// The result of spec_problem() or declaration_problem() as a usage error: "ORIGIN: invalid spec of
// target 't': ...".
Result<void> check_spec(const TargetSpec& spec, std::string_view origin,
                        const std::shared_ptr<SpecWatch>& watch);
Result<void> check_declaration(const TargetSpec& spec, std::string_view origin);

}  // namespace redzone
