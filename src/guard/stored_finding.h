// Converts findings of a program to the form of the store.
#pragma once

#include "core/finding.h"
#include "guard/program_run.h"

namespace redzone::guard {

// The oracle of these findings.
inline constexpr std::string_view kOracle = "guard";

// Two findings have the same stored signature if their programs and their signature() are the same.
Signature stored_signature(const ProgramRun& run, const DistinctFinding& distinct);

// The stored finding without the members that only the store sets: its environment, campaign and
// reliability. The data for a rerun come from the command or, for an attached process, from the
// process.
redzone::Finding stored_finding(const ProgramRun& run, const DistinctFinding& distinct);

// Recover from a stored finding how to run its program again. A harness error if the settings were
// not written by the guard of this build.
Result<interpose::Settings> settings_of(const ProgramOrigin& origin);
Started started_of(const ProgramOrigin& origin);

}  // namespace redzone::guard
