// The flags that describe one TMA descriptor.
#pragma once

#include "cli/command.h"
#include "tma/descriptor.h"

namespace redzone::cli {

void add_descriptor_flags(po::options_description& flags);

// True if any of the descriptor flags was given.
bool descriptor_given(const po::variables_map& flags);

// Usage errors name the flag. --format, --dim and --box (or --channels) are required, and a stride
// for each dim except the innermost; the rank is the number of dims.
Result<tma::Descriptor> descriptor_of(const po::variables_map& flags);

}  // namespace redzone::cli
