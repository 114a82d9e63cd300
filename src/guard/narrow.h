// What a second run of a program, which waits for each launch, tells of the first.
#pragma once

#include "guard/program_run.h"

namespace redzone::guard {

// What a second run has to do, for findings of a device whose launch is not known.
enum class Narrowing : std::uint8_t {
  none,
  error,   // wait for each launch
  canary,  // and compare the canaries after it
};
Narrowing narrowing_of(const ProgramRun& run);

// Gives findings of `run` what those of the same program with the same signature in `second` know
// of the launch, and the error of a device what is known there of the first error of a process of
// the same program: of its n-th process with an error that of the n-th there. How many findings
// know more then.
std::size_t narrow(ProgramRun& run, const ProgramRun& second);

}  // namespace redzone::guard
