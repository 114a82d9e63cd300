// The flags of a night, for the commands that run one, here or on other machines.
#pragma once

#include "cli/flags.h"
#include "nightly/nightly.h"

namespace redzone::cli {

// TARGET... and the flags of the night itself, without the locations of store and report.
void add_night_flags(po::options_description& flags, po::positional_options_description& words);
// Reads the corpus. The caller sets the shard.
Result<nightly::NightlyOptions> night_options(const po::variables_map& flags);

}  // namespace redzone::cli
