// Programs that a fleet runs: Slurm's commands, and Redzone's own.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace redzone::fleet {

struct Output {
  int status = 0;    // exit code, or 128 + signal
  std::string text;  // of standard output and standard error
};

// Runs the program, found by PATH, to its end. A harness error if it cannot be started.
Result<Output> run_program(const std::vector<std::string>& words);

// Of a wait status: the exit code, or 128 + signal.
int exit_code_of_wait(int status);

}  // namespace redzone::fleet
