// Stores findings of programs that ran under the guard.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "guard/known_finding.h"
#include "guard/program_runs.h"
#include "store/store.h"

namespace redzone::engine {

// Stores the findings of the runs as one campaign, in the order of guard::joined_findings(). A
// finding is confirmed if all runs showed it, otherwise flaky: the guard reports actual events, so
// one run is a proof. A finding that cannot be stored gets a problem, and the others are still
// stored. For a folder of attached processes, each process counts once, however often the folder is
// collected.
Result<std::vector<guard::KnownFinding>> store_program_findings(
    store::Store& store, std::span<const guard::ProgramRun> runs, const std::string& command,
    std::uint64_t seed);

// Like store_program_findings(), but stores nothing.
Result<std::vector<guard::KnownFinding>> known_program_findings(
    store::Store& store, std::span<const guard::ProgramRun> runs);

// Returns the errors in the stored settings of programs, which this build's guard must be able to
// read.
Result<std::vector<std::string>> problems_of_programs(store::Store& store);

}  // namespace redzone::engine
