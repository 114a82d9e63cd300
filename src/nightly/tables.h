// The tables of earlier bisections, for the report of a night.
#pragma once

#include "report/night.h"
#include "store/store.h"
#include "target/registry.h"

namespace redzone::nightly {

// Adds a table for each finding that has stored `redzone bisect` runs on the device it was seen on,
// with this build of its target or the one it was seen in. Runs nothing: settings that the stored
// runs do not decide stay unknown. A target that is not in the registry gets no table.
Result<void> add_bisections(report::Night& night, store::Store& store, const Registry& registry);

}  // namespace redzone::nightly
