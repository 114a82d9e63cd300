// Does a GPU have the compute capability that the kernels of a target need?
#pragma once

#include <redzone/spec.h>

#include <optional>
#include <string>

namespace redzone {

// Why a GPU of `capability` (90 for 9.0) cannot run the target, if it cannot.
std::optional<std::string> capability_problem(const TargetSpec& spec, int capability);

}  // namespace redzone
