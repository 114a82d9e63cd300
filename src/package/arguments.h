// Reads an [[argument]] of target.toml.
#pragma once

#include <string>
#include <vector>

#include "core/table_reader.h"
#include "package/package.h"

namespace redzone::package {

// `package` must already have its dims, knobs, tensors and the arguments before this one;
// expressions may use the names in `numbers`. Throws FieldError.
Argument read_argument(TableReader& f, const Package& package,
                       const std::vector<std::string>& numbers);

}  // namespace redzone::package
