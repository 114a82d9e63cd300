// The parts of target.toml that a fuzzer needs: everything except the variants.
#pragma once

#include "core/table_reader.h"
#include "package/package.h"

namespace redzone::package {

// Fills in everything up to Package::arguments. Throws FieldError.
void read_description(TableReader& root, Package& package);

}  // namespace redzone::package
