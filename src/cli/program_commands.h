// `replay`, `bisect` and `export` of findings of programs under the guard.
#pragma once

#include "cli/command.h"
#include "core/finding.h"

namespace redzone::cli {

// Uses --runs, --time, --placement and --json of replay. Its other flags apply to plans: a usage
// error.
Result<int> replay_program(const po::variables_map& flags, Results& out, Finding finding);

// Uses --time and --json of bisect. Its other flags apply to plans: a usage error.
Result<int> bisect_program(const po::variables_map& flags, Results& out, Finding finding);

// Prints a note for each file of the program that has changed since the finding was stored.
void report_changed_files(const ProgramOrigin& origin);

// A shell script that shows the finding.
Result<std::string> program_script(const Finding& finding);

}  // namespace redzone::cli
