// Names of the enumerators of the target API, as reports spell them.
#pragma once

#include <redzone/spec.h>

#include <string_view>
#include <vector>

namespace redzone::report {

std::string_view name_of(Category category);  // "kernel", "puzzle", "twin"
std::string_view name_of(Role role);          // "in", "out", "inout"
std::string_view name_of(DType dtype);        // "f32", "bf16", ...

// "contiguous" and what else the target promises to handle: "row padding", "transposed", ...
std::vector<std::string_view> layouts_of(const LayoutRules& rules);

}  // namespace redzone::report
