// Findings of programs under the guard in the store.
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
// finding is confirmed if all runs showed it, else flaky: the guard reports what happened, so one
// run is a proof. One that cannot be stored has a problem, and the others are stored. Of a folder
// of attached processes each process counts once, however often the folder is collected.
Result<std::vector<guard::KnownFinding>> store_program_findings(
    store::Store& store, std::span<const guard::ProgramRun> runs, const std::string& command,
    std::uint64_t seed);

// The same without storing anything.
Result<std::vector<guard::KnownFinding>> known_program_findings(
    store::Store& store, std::span<const guard::ProgramRun> runs);

// What is wrong with the stored settings of programs, which this build's guard has to read.
Result<std::vector<std::string>> problems_of_programs(store::Store& store);

}  // namespace redzone::engine
