// Does a device have what the kernels of a target need?
#pragma once

#include <redzone/spec.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/device_traits.h"

namespace redzone {

// Why a GPU of `capability` (90 for 9.0) cannot run the target, if it cannot.
std::optional<std::string> capability_problem(const TargetSpec& spec, int capability);

// Why a device of that kind cannot run the target, if it cannot. `nvrtc`: "" where it is missing.
std::optional<std::string> support_problem(const TargetSpec& spec, const DeviceTraits& device,
                                           int capability, std::string_view nvrtc);

}  // namespace redzone
