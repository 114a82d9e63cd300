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

// A run without a finding is a pass only if the place of the finding was within its reach: the
// program ended by itself with 0 or with `exit_code`, that of the recorded run (which the mistake
// may have caused); all processes to guard were judged, that of the finding's program is among
// them, and each left by exit(). Findings whose hash is in `waived` are no failures, but no pass
// either: what they stopped is not known.
ProgramVerdict judge_run(const ProgramRun& run, const Signature& recorded, int exit_code,
                         const std::set<std::string>& waived);

// The run without findings of this signature.
ProgramRun without(ProgramRun run, const Signature& signature);

}  // namespace redzone::guard
