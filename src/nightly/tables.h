// Tables of earlier bisections, for the report of a night.
#pragma once

#include <set>
#include <string>

#include "report/night.h"
#include "store/store.h"
#include "target/registry.h"

namespace redzone::nightly {

// Adds a table for each finding with stored `redzone bisect` runs on the finding's device, made
// with this build of its target or with the build in which it was found. Runs nothing: settings
// that the stored runs do not decide stay unknown. Returns the targets of findings that got no
// table because the target is not in the registry.
Result<std::set<std::string>> add_bisections(report::Night& night, store::Store& store,
                                             const Registry& registry);

}  // namespace redzone::nightly
