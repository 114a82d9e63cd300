// Completes findings of a run by a second run of the program that waits for each launch.
#pragma once

#include "guard/program_run.h"

namespace redzone::guard {

// What a second run must do, for findings of a device whose launch is unknown.
enum class Narrowing : std::uint8_t {
  none,
  error,   // wait for each launch
  canary,  // also compare the canaries after each launch
};
Narrowing narrowing_of(const ProgramRun& run);

// Completes the launches of findings in `run` from `second`. A canary finding gets the launch of
// the finding with the same program and signature. A device error gets the first error of the
// matching process: the n-th process of a program that has an error matches the n-th such process
// of the same program in `second`. Returns the number of completed findings.
std::size_t narrow(ProgramRun& run, const ProgramRun& second);

}  // namespace redzone::guard
