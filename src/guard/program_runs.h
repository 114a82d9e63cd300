// Several runs of one program, whose findings are joined.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "guard/program_run.h"

namespace redzone::guard {

// Findings with one signature in several runs.
struct JoinedFinding {
  DistinctFinding distinct;  // of the first run that shows it
  std::size_t run = 0;       // that run
  std::size_t seen_in = 0;   // runs that show it
};

// In the order in which they are met.
std::vector<JoinedFinding> joined_findings(std::span<const ProgramRun> runs);

// The processes of all runs as one run, which ended as the first that took too long or did not exit
// with 0. Needs at least one run.
ProgramRun joined(std::span<const ProgramRun> runs);

// Which settings a series of runs varies; the others stay as they are.
struct Varied {
  bool placement = false, poison = false, retire = false;
};

// The settings of run `number`, from 0, which has those of `settings`; those of later runs are
// drawn from the seed, and every second of them has the guard page on the other side. With held
// launches each has a seed of its own for what they stop. Alignment is not varied: less than the
// allocators promise would be a mistake of the guard.
interpose::Settings settings_of_run(const interpose::Settings& settings, const Varied& varied,
                                    std::uint64_t seed, std::size_t number);

// "guard_before, poison 0x00, retire all", and the seed of held launches.
std::string varied_text(const interpose::Settings& settings);

}  // namespace redzone::guard
