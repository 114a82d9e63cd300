// What a second run of a program, with a check after each launch, tells of the first.
#pragma once

#include "guard/program_run.h"

namespace redzone::guard {

// Whether there is a canary of a device whose launch is not known.
bool can_be_narrowed(const ProgramRun& run);

// Gives findings of `run` the launches of those with the same signature in `second`; how many
// signatures have one then.
std::size_t narrow(ProgramRun& run, const ProgramRun& second);

}  // namespace redzone::guard
