// Checks whether a device supports what the kernels of a target need.
#pragma once

#include <redzone/spec.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/device_traits.h"

namespace redzone {

// The reason why a GPU of `capability` (90 for 9.0) cannot run the target, or nullopt.
std::optional<std::string> capability_problem(const TargetSpec& spec, int capability);

// The reason why a device of that kind cannot run the target, or nullopt. `nvrtc`: "" if missing.
std::optional<std::string> support_problem(const TargetSpec& spec, const DeviceTraits& device,
                                           int capability, std::string_view nvrtc);

}  // namespace redzone
