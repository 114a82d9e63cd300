// The parts of a report of `redzone guard` about the store and about several runs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "guard/known_finding.h"
#include "guard/program_runs.h"
#include "report/json_parts.h"

namespace redzone::report {

struct GuardStored {
  std::vector<guard::KnownFinding> known = {};
  std::string db = {};       // store to name on command lines; "" for the default store
  std::string problem = {};  // why the store could not be used; "" if it was usable
  std::span<const guard::ProgramRun> runs = {};  // set if there are several runs
};

// One line for each finding that is stored or suppressed, then a table if there are several runs.
std::string guard_stored_text(const GuardStored& stored);
// "; 1 of them is suppressed by a mark"; "" if none is suppressed.
std::string suppressed_text(const GuardStored& stored);

//   "stored"  [{"signature", "id": number or null, "new": bool, "standing", "link", "note",
//             "suppressed": bool, "problem"}], in the order of "findings"
//   "runs"    [{"settings", "exit_code", "judged": bool, "findings": [signatures]}]
Json guard_stored_json(const GuardStored& stored);
Json guard_runs_json(const GuardStored& stored);

}  // namespace redzone::report
