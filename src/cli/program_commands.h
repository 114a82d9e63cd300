// `replay`, `bisect` and `export` of findings of programs under the guard.
#pragma once

#include "cli/command.h"
#include "core/finding.h"

namespace redzone::cli {

// --runs, --time, --placement and --json of replay. Its other flags are of plans: a usage error.
Result<int> replay_program(const po::variables_map& flags, Results& out, Finding finding);

// --time and --json of bisect. Its other flags are of plans: a usage error.
Result<int> bisect_program(const po::variables_map& flags, Results& out, Finding finding);

// A note for each file of the program that is not what it was when the finding was stored.
void report_changed_files(const ProgramOrigin& origin);

// The script that shows the finding.
Result<std::string> program_script(const Finding& finding);

}  // namespace redzone::cli
