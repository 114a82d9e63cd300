// The tables of earlier bisections, for the report of a night.
#pragma once

#include "cli/session.h"
#include "report/night.h"
#include "store/store.h"

namespace redzone::cli {

// For each finding of which `redzone bisect` has stored runs, of this build of its target or of the
// one that the finding was seen in. Runs nothing.
Result<void> add_bisections(report::Night& night, store::Store& store, const Session& session);

}  // namespace redzone::cli
