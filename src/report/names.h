// Names of what a target declares, as reports spell them.
#pragma once

#include <redzone/spec.h>

#include <string_view>
#include <vector>

#include "core/spec_names.h"

namespace redzone::report {

// "contiguous" and the other layouts that the target promises to handle: "row padding",
// "transposed", ...
std::vector<std::string_view> layouts_of(const LayoutRules& rules);

}  // namespace redzone::report
