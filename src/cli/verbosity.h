// -v of every command: how much progress the log reports (core/log.h).
#pragma once

#include "cli/command.h"
#include "core/log.h"

namespace redzone::cli {

// -v, --verbose; the number of occurrences counts.
void add_verbosity_flag(po::options_description& flags);
log::Level verbosity_of(const po::variables_map& flags);

}  // namespace redzone::cli
