// The code in which findings were found.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/finding.h"
#include "target/registry.h"

namespace redzone::engine {

// How a target's code was built, for the environment of its findings. `built_by` is the toolchain
// of this build.
std::string toolkit_of(const TargetEntry& target, std::string_view built_by);
// Where it comes from, as a finding keeps it: with an absolute path, and built in if it ships with
// Redzone.
TargetOrigin origin_of(const TargetEntry& target);

// Adds to `error` (the target of a finding is missing) what would load that target.
Error with_origin(Error error, const Environment& found_in);

// The device on which a finding is rerun without --device: a finding seen without a GPU does not
// apply to a GPU, and is rerun where it was seen.
DeviceKind device_of(const Environment& found_in, DeviceKind asked);

// One line if the loaded target is of other code than that of the finding.
std::optional<std::string> other_code(const TargetEntry& here, const Environment& found_in,
                                      const std::string& finding);

}  // namespace redzone::engine
