// The code with which findings were found.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/finding.h"
#include "target/registry.h"

namespace redzone::engine {

// How a target's code was built, for the environment of its findings. `built_by` is the toolchain
// of this build of Redzone.
std::string toolkit_of(const TargetEntry& target, std::string_view built_by);
// The target's origin as stored with a finding: with an absolute path, or empty (built in) if the
// target ships with Redzone.
TargetOrigin origin_of(const TargetEntry& target);

// Appends to `error`, which reports that a finding's target is missing, what would load that
// target.
Error with_origin(Error error, const Environment& found_in);

// The device on which a finding is rerun without --device: a finding seen without a GPU does not
// apply to a GPU, so it is rerun on the device where it was seen.
DeviceKind device_of(const Environment& found_in, DeviceKind asked);

// Returns one line if the loaded target has other code than the finding's.
std::optional<std::string> other_code(const TargetEntry& here, const Environment& found_in,
                                      const std::string& finding);

}  // namespace redzone::engine
