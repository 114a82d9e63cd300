// Checks whether a package's declarations can be valid for any call.
#pragma once

#include "core/table_reader.h"
#include "package/package.h"

namespace redzone::package {

// Throws the error of the first expression of `package` that has no valid value for any probe,
// under any knobs. Probes are the smallest dims, the largest, some between, and combinations of
// small and large dims. Such errors are a division by zero, a negative shape, grid or amount of
// work, an integer outside its argument's type, and a fill range without a number. Without this
// check no call would ever run, and no message would name the field. Reports nothing if constraints
// forbid all probes. `root` must be the reader of target.toml.
void check_sanity(const TableReader& root, const Package& package);

}  // namespace redzone::package
