// `redzone bisect ID --builds A B C...`
#pragma once

#include "cli/command.h"
#include "core/error.h"

namespace redzone::cli {

// Runs the finding's plan in builds until the first bad build is known. Prints the result.
Result<int> bisect_builds(const po::variables_map& flags, Results& out);

}  // namespace redzone::cli
