// Findings and the code that they were found in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/finding.h"
#include "target/registry.h"

namespace redzone::engine {

// What a target's code was made with and from, for the environment of its findings. `built_by` made
// the code of this build.
std::string toolkit_of(const TargetEntry& target, std::string_view built_by);

// `error`, that the target of a finding is not here, with what would bring it.
Error with_origin(Error error, const Environment& found_in);

// Where a finding is run again when --device does not say: what was seen without a GPU says nothing
// of one, and is seen again where it was seen.
DeviceKind device_of(const Environment& found_in, DeviceKind asked);

// One line when the target that is here is of a package that is not the one of the finding.
std::optional<std::string> other_code(const TargetEntry& here, const Environment& found_in,
                                      const std::string& finding);

}  // namespace redzone::engine
