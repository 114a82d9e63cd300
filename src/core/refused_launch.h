// The fault code of a launch that a device refuses.
#pragma once

#include <string_view>

namespace redzone {

// Fault::code of a launch over the limits of the device (core/launch_limits.h).
inline constexpr std::string_view kRefusedLaunchCode = "invalid-launch";

}  // namespace redzone
