// Is what a plugin declares a usable TargetSpec? Asked once, when the target is registered.
#pragma once

#include <redzone/spec.h>

#include <optional>
#include <string>

namespace redzone {

// The first thing wrong, as one clause ("tensor 'x' has no shape function"), or nothing. Calls the
// functions of the spec once, at the smallest dims and the default knobs: none may ask for a name
// that the spec does not declare. One that throws something else is left for the plans to judge
// where the constraints do not allow that call.
std::optional<std::string> spec_problem(const TargetSpec& spec);

}  // namespace redzone
