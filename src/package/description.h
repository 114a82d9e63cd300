// The parts of target.toml that say what a fuzzer has to know: all but the variants.
#pragma once

#include "core/fields.h"
#include "package/package.h"

namespace redzone::package {

// Fills in everything up to Package::arguments. Throws FieldError.
void read_description(Fields& root, Package& package);

}  // namespace redzone::package
