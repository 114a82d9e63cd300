// Reads the [[variant]] tables of target.toml and checks them against arguments and compiled
// kernels.
#pragma once

#include <string>

#include "core/table_reader.h"
#include "package/package.h"

namespace redzone::package {

// `package` must have all parts of read_description(); this function adds the rest except the hash.
// Throws FieldError. `all_bytes`: see read_compiled().
void read_variants(TableReader& root, Package& package, std::string& all_bytes);

}  // namespace redzone::package
