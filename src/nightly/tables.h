// The tables of earlier bisections, for the report of a night.
#pragma once

#include <set>
#include <string>

#include "report/night.h"
#include "store/store.h"
#include "target/registry.h"

namespace redzone::nightly {

// Adds a table for each finding that has stored `redzone bisect` runs on the device it was seen on,
// with this build of its target or the one it was seen in. Runs nothing: settings that the stored
// runs do not decide stay unknown. Returns the targets that got no table for such a finding, since
// they are not in the registry.
Result<std::set<std::string>> add_bisections(report::Night& night, store::Store& store,
                                             const Registry& registry);

}  // namespace redzone::nightly
