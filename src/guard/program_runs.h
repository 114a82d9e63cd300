// Several runs of one program with joined findings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "guard/program_run.h"

namespace redzone::guard {

// Findings with the same key in several runs.
struct JoinedFinding {
  DistinctFinding distinct;  // from the first run that has it
  std::size_t run = 0;       // index of that run
  std::size_t seen_in = 0;   // number of runs that have it
};

// The findings in the order of their first occurrence.
std::vector<JoinedFinding> joined_findings(std::span<const ProgramRun> runs);

// The processes of all runs as one run. Its end is that of the first run that took too long or did
// not exit with 0; else that of the first run. Needs at least one run.
ProgramRun joined(std::span<const ProgramRun> runs);

// The settings that a series of runs varies; the others stay unchanged.
struct Varied {
  bool placement = false, poison = false, retire = false;
};

// The settings of run `number`. Run 0 has `settings`; those of later runs are drawn from the seed,
// and every second run has the guard page on the other side. With held launches, each run has its
// own seed for the holds. Alignment is not varied, because an alignment below the allocator's
// guarantee would be an error of the guard.
interpose::Settings settings_of_run(const interpose::Settings& settings, const Varied& varied,
                                    std::uint64_t seed, std::size_t number);

// "guard_before, poison 0x00, retire all", plus the seed for held launches.
std::string varied_text(const interpose::Settings& settings);

}  // namespace redzone::guard
