// Report names for what a target declares.
#pragma once

#include <redzone/spec.h>

#include <string_view>
#include <vector>

#include "core/spec_names.h"

namespace redzone::report {

// "contiguous", then the other layouts that the target supports: "row padding", "transposed", ...
std::vector<std::string_view> layouts_of(const LayoutRules& rules);

}  // namespace redzone::report
