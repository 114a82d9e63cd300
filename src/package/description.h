// The parts of target.toml that say what a fuzzer has to know: all but the variants.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "package/fields.h"
#include "package/package.h"

namespace redzone::package {

// Fills in everything up to Package::arguments. Throws FieldError.
void read_description(Fields& root, Package& package);

// "bf16" and so on.
std::optional<DType> dtype_named(std::string_view name);

}  // namespace redzone::package
