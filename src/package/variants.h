// The [[variant]] tables of target.toml, checked against the arguments and the compiled kernels.
#pragma once

#include <string>

#include "core/table_reader.h"
#include "package/package.h"

namespace redzone::package {

// `package` must have everything from read_description(). Fills in the rest except the hash. Throws
// FieldError. `all_bytes` as for read_compiled().
void read_variants(TableReader& root, Package& package, std::string& all_bytes);

}  // namespace redzone::package
