// Is what a plugin declares a usable TargetSpec? Asked once, when the target is registered.
#pragma once

#include <redzone/spec.h>

#include <optional>
#include <string>

namespace redzone {

// The first thing wrong, as one clause ("tensor 'x' has no shape function"), or nothing. Calls the
// shape functions once, at the smallest dims; one that throws there is left for the plans to judge,
// because those dims need not satisfy the constraints.
std::optional<std::string> spec_problem(const TargetSpec& spec);

}  // namespace redzone
