// `redzone bisect ID --builds A B C...`
#pragma once

#include "cli/command.h"
#include "core/error.h"

namespace redzone::cli {

// Tries the finding's plan in the builds until the first bad one is known. Prints the result.
Result<int> bisect_builds(const po::variables_map& flags);

}  // namespace redzone::cli
