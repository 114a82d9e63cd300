// The flags of a night, for the commands that run one, here or on other machines.
#pragma once

#include "cli/flags.h"
#include "nightly/nightly.h"

namespace redzone::cli {

// TARGET... and what a night does; nothing about where its store and its report are.
void add_night_flags(po::options_description& flags, po::positional_options_description& words);
// Reads the corpus. The shard is left to the caller.
Result<nightly::NightlyOptions> night_options(const po::variables_map& flags);

}  // namespace redzone::cli
