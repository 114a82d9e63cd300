// Decides whether a run of a program reproduces a stored finding. Pure.
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
  Verdict verdict;                           // the decisive verdict
};

// A run without a finding is a pass only if the run could have reached the place of the finding:
// the program ended by itself with 0 or with `exit_code`, the code of the recorded run (which the
// mistake may have caused); all processes to guard were judged, including one of the finding's
// program; and each left by exit(). Findings whose hash is in `waived` are not failures, but no
// pass either, because they may have hidden the recorded finding.
ProgramVerdict judge_run(const ProgramRun& run, const Signature& recorded, int exit_code,
                         const std::set<std::string>& waived);

// The run without the findings that have this signature.
ProgramRun without(ProgramRun run, const Signature& signature);

}  // namespace redzone::guard
