// Whether a run of a program shows a stored finding. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "core/finding.h"
#include "core/run_result.h"
#include "guard/program_run.h"

namespace redzone::guard {

struct ProgramVerdict {
  RunResult result = RunResult::not_judged;  // by the ranking of core/run_result.h
  Verdict verdict;                           // that decided
};

// Only processes that were all judged, in a program that ended by itself, are a pass. Findings
// whose hash is in `waived` are none.
ProgramVerdict judge_run(const ProgramRun& run, const Signature& recorded,
                         const std::set<std::string>& waived);

// The run without findings of this signature.
ProgramRun without(ProgramRun run, const Signature& signature);

}  // namespace redzone::guard
