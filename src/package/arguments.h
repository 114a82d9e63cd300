// An [[argument]] of target.toml.
#pragma once

#include <string>
#include <vector>

#include "core/fields.h"
#include "package/package.h"

namespace redzone::package {

// `package` has its dims, knobs, tensors and the arguments in front of this one; `numbers` are the
// names that its expressions may use. Throws FieldError.
Argument read_argument(Fields& f, const Package& package, const std::vector<std::string>& numbers);

}  // namespace redzone::package
