// Findings of a program as the store holds them.
#pragma once

#include "core/finding.h"
#include "guard/program_run.h"

namespace redzone::guard {

// The oracle of such findings.
inline constexpr std::string_view kOracle = "guard";

// Two findings of one program have the same one if signature() says so; of different programs they
// never have.
Signature stored_signature(const ProgramRun& run, const DistinctFinding& distinct);

// Without what only the store's side knows: its environment, campaign and reliability. What is
// needed to run it again is of the command, or of a process that was attached.
redzone::Finding stored_finding(const ProgramRun& run, const DistinctFinding& distinct);

// To run a program as it was run: the origin of a finding of stored_finding(). Harness errors: what
// no guard of this build has written.
Result<interpose::Settings> settings_of(const ProgramOrigin& origin);
Started started_of(const ProgramOrigin& origin);

}  // namespace redzone::guard
