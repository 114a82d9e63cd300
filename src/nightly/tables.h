// The tables of earlier bisections, for the report of a night.
#pragma once

#include "report/night.h"
#include "store/store.h"
#include "target/registry.h"

namespace redzone::nightly {

// For each finding of which `redzone bisect` has stored runs on the device that it was seen on, of
// this build of its target or of the one that it was seen in. Runs nothing: what the runs do not
// say is not known. A target that is not in the registry has no table.
Result<void> add_bisections(report::Night& night, store::Store& store, const Registry& registry);

}  // namespace redzone::nightly
