// The [[variant]] tables of target.toml, checked against the arguments and the compiled kernels.
#pragma once

#include <string>

#include "core/fields.h"
#include "package/package.h"

namespace redzone::package {

// `package` has all that read_description() reads. Fills in the rest of it but the hash. Throws
// FieldError. `all_bytes` as for read_compiled().
void read_variants(Fields& root, Package& package, std::string& all_bytes);

}  // namespace redzone::package
