// Programs that a fleet runs: Slurm's commands, and Redzone's own.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace redzone::fleet {

struct Output {
  int status = 0;    // exit code, or 128 + signal
  std::string text;  // standard output and standard error
};

// Runs the program, found through PATH, to its end. Returns a harness error if it cannot be
// started.
Result<Output> run_program(const std::vector<std::string>& words);

// The exit code for a wait status, or 128 + signal.
int exit_code_of_wait(int status);

}  // namespace redzone::fleet
